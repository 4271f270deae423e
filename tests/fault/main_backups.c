#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/store.h"
#include "tests/sim/disk.h"

/*
 * Directories of backups on system calls that are not to be relied on (see
 * disk.h): while a second backup is made, which removes the first one then,
 * every n-th call is interrupted, does half of what was asked, or fails with
 * EIO or ENOSPC, once or with all after it. What is listed is whole then, there
 * is one at least, and the next call goes well and cleans up. And at every
 * change somebody writes to the first backup, which stays then.
 *
 *   main_backups [-every N] [-seed S]
 */
static char top[64], directory[80], backups[80], watched[80];
static char made[160]; /* the last backup */
static struct store *store;
static unsigned long passed, failed, written, faults[3];

struct kind {
	const char *name;
	enum disk_fault fault;
	int error;
	bool forever, harmless;
};

static const struct kind kinds[] = {
	{ "interrupted", DISK_INTERRUPTED, EINTR, false, true },
	{ "half", DISK_SHORT, 0, false, true },
	{ "half for ever", DISK_SHORT, 0, true, true },
	{ "EIO", DISK_ERROR, EIO, false, false },
	{ "EIO for ever", DISK_ERROR, EIO, true, false },
	{ "ENOSPC", DISK_ERROR, ENOSPC, false, false },
	{ "ENOSPC for ever", DISK_ERROR, ENOSPC, true, false },
};

/* What is wrong with one run; "": nothing. */
static char problem[300];

static void complain(const char *what)
{
	if (!problem[0])
		snprintf(problem, sizeof(problem), "%s: %.200s", what,
			 err_detail());
}

static void must(int err, const char *what)
{
	if (err < 0) {
		printf("%s: %s\n", what, err_detail());
		abort();
	}
}

static void put(struct store *s, const char *row, size_t size)
{
	uint8_t value[3000] = { 0 };
	struct write *w;

	must(write_new(store, &w), "write");
	must(write_row(w, BYTES_LITERAL("t"), bytes_string(row)), "row");
	must(write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"), 1,
		       bytes_of(value, size)),
	     "set");
	must(store_commit(s, w, true), "commit");
	write_free(w);
}

/* As those of backup_source: what is pinned is known, and stays. */
static int hand_over(void *context, struct buf *contents)
{
	return buf_add_bytes(contents, buf_bytes(context));
}

static int let_be(void *context)
{
	(void)context;
	return 0;
}

static int back_up(struct buf *contents, unsigned int keep)
{
	struct backup_source from = { store_volume(store), hand_over, let_be,
				      contents };
	struct backup_options o = { keep, false };
	struct backup_result r;
	int err = backup_make(&from, backups, &o, &r);

	snprintf(made, sizeof(made), "%s/%s", backups, r.moment);
	return err;
}

static unsigned int rows_at(const char *path)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct store_options options;
	unsigned int rows = 0;
	struct store *copy;
	struct scan *scan;
	struct cell cell;

	store_options_init(&options);
	options.read_only = true;
	options.background = false;
	if (store_open(path, &options, &copy) < 0)
		return 0;
	if (scan_open(copy, NULL, &range, &scan) == 0) {
		while (scan_next(scan, CURSOR_ROW, &cell) == 1)
			rows++;
		scan_close(scan);
	}
	store_close(copy);
	return rows;
}

/* Of the backups that are listed. */
struct listed {
	unsigned int count, newest_rows;
};

static int look(void *context, const struct backup_info *info)
{
	struct listed *l = context;
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", backups, info->moment);
	l->count++;
	l->newest_rows = rows_at(path);
	if (l->newest_rows != 2 && l->newest_rows != 3)
		complain("one is not whole");
	return 0;
}

static struct listed list(void)
{
	struct listed l = { 0, 0 };

	if (backup_list(backups, false, look, &l) < 0)
		complain("listing");
	return l;
}

static bool has_partial(void)
{
	DIR *d = opendir(backups);
	struct dirent *entry;
	bool has = false;

	if (!d)
		abort();
	while ((entry = readdir(d)))
		has = has || strstr(entry->d_name, ".partial") ||
		      strstr(entry->d_name, ".tmp");
	closedir(d);
	return has;
}

static void shell(const char *command)
{
	char text[300];

	snprintf(text, sizeof(text), command, top);
	if (system(text) != 0)
		abort();
}

/* False when there is no n-th call. */
static bool run(unsigned long n, const struct kind *k, struct buf contents[2])
{
	struct listed l;
	bool happened;
	int err;

	problem[0] = 0;
	shell("rm -rf %s/backups");
	must(back_up(&contents[0], 0), "the first");
	disk_watch(watched);
	disk_fail(n, k->fault, k->error, k->forever);
	err = back_up(&contents[1], 1);
	happened = disk_failed();
	disk_fail(0, DISK_ERROR, 0, false);
	if (err < 0 && k->harmless)
		complain("it was not put up with");
	if (disk_open_count() > 0)
		complain("a file was not closed");
	disk_reset();
	l = list();
	if (l.count == 0)
		complain("there is none");
	if (err == 0 && l.newest_rows != 3)
		complain("it is not there");
	if (back_up(&contents[1], 1) < 0)
		complain("the next");
	l = list();
	if (l.count != 1 || l.newest_rows != 3 || has_partial())
		complain("something is left");
	passed += !problem[0];
	failed += problem[0] != 0;
	if (problem[0])
		printf("%s, call %lu: %s\n", k->name, n, problem);
	faults[k->fault] += happened;
	return happened;
}

/* Somebody who writes to a backup once. */
struct writer {
	char path[160];
	unsigned long n; /* it comes at the n-th time */
	bool has_written;
};

static void write_to(void *context)
{
	struct writer *w = context;
	struct store_options options;
	struct store *s;

	if (w->n == 0 || --w->n > 0)
		return;
	store_options_init(&options);
	options.background = false;
	if (store_open(w->path, &options, &s) < 0)
		return;
	put(s, "d", 50);
	must(store_close(s), "close");
	w->has_written = true;
}

/* What somebody writes to before the n-th change, or after it, is a store of
 * its own: it stays. False when there is no n-th. */
static bool run_writer(unsigned long n, struct buf contents[2])
{
	struct writer w = { .n = n };

	problem[0] = 0;
	shell("rm -rf %s/backups");
	must(back_up(&contents[0], 0), "the first");
	memcpy(w.path, made, sizeof(made));
	disk_watch(watched);
	disk_hook(write_to, &w);
	if (back_up(&contents[1], 1) < 0)
		complain("beside a writer");
	disk_hook(NULL, NULL);
	disk_reset();
	if (w.has_written && rows_at(w.path) != 3)
		complain("what was written to is gone");
	written += w.has_written;
	passed += !problem[0];
	failed += problem[0] != 0;
	if (problem[0])
		printf("a writer, change %lu: %s\n", n, problem);
	return w.n == 0;
}

static void make_store(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct store_options options;

	strcpy(top, "/dev/shm/main_backups.XXXXXX");
	if (!mkdtemp(top))
		abort();
	snprintf(directory, sizeof(directory), "%s/store", top);
	snprintf(backups, sizeof(backups), "%s/backups", top);
	snprintf(watched, sizeof(watched), "%s/watched", top);
	if (mkdir(watched, 0700) < 0)
		abort();
	store_options_init(&options);
	options.create = true;
	options.background = false;
	options.blob_threshold = 2000;
	must(store_open(directory, &options, &store), "open");
	must(store_create_table(store, BYTES_LITERAL("t"), false, &family, 1),
	     "table");
}

int main(int argc, char **argv)
{
	struct buf contents[2] = { BUF_INIT, BUF_INIT };
	struct backup_pin *pins[2];
	unsigned long every = 7, seed = 1, n;
	size_t i;

	for (i = 1; i + 1 < (size_t)argc; i += 2) {
		n = strtoul(argv[i + 1], NULL, 0);
		if (strcmp(argv[i], "-every") == 0)
			every = n;
		else if (strcmp(argv[i], "-seed") == 0)
			seed = n;
	}
	make_store();
	put(store, "a", 50);
	put(store, "b", 3000);
	must(store_pin(store, &contents[0], &pins[0]), "pin");
	put(store, "c", 50);
	must(store_pin(store, &contents[1], &pins[1]), "pin");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (n = 1 + seed % every; run(n, &kinds[i], contents);
		     n += every)
			;
	for (n = 1; run_writer(n, contents); n++)
		;
	for (i = 0; i < 2; i++) {
		store_unpin(store, pins[i]);
		buf_release(&contents[i]);
	}
	must(store_close(store), "close");
	shell("rm -rf %s");
	printf("%lu errors, %lu interruptions, %lu halves, %lu writers "
	       "injected\n",
	       faults[DISK_ERROR], faults[DISK_INTERRUPTED], faults[DISK_SHORT],
	       written);
	printf("%lu passed, %lu failed, 0 skipped\n", passed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
