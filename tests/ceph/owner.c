#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "store/base/clock.h"
#include "store/base/err.h"
#include "store/base/rados/pool_open.h"
#include "store/scan.h"
#include "store/store.h"
#include "store/write.h"

/*
 * One owner of a store of which there are several, one after the other:
 * tests/ceph/chaos.py kills and stops them.
 *
 *   owner PLACE NAME FILE   takes the store as soon as it is free; writes to
 *                           FILE.seen which rows it found, and then rows
 *                           NAME-1, NAME-2, ..., each named in FILE once it
 *                           is durable, until it is ended or refused
 *   owner PLACE             tells which rows there are
 */
#define TABLE BYTES_LITERAL("t")
#define FAMILY BYTES_LITERAL("f")

static uint64_t now_ms(void)
{
	return clock_now(&clock_steady) / 1000;
}

static int end(const char *what, int err)
{
	fprintf(stderr, "%s: %s: %s\n", what, err_detail(), err_text(err));
	return 1;
}

/* Waits while another has it that lives, and while the cluster is silent. */
static int take(const char *place, struct store **out)
{
	const struct timespec pause = { 0, 20000000 };
	struct store_options o;
	int err;

	store_options_init(&o);
	o.create = true;
	o.memtable_size = 1 << 20;
	o.file_size = 1 << 20;
	o.holder = "an owner";
	for (;;) {
		err = store_open(place, &o, out);
		if (err != -ERR_store_in_use && err != -EIO)
			return err;
		nanosleep(&pause, NULL);
	}
}

static int tell_rows(struct store *s, FILE *out)
{
	struct scan_range range = { .table = TABLE, .rows_only = true };
	struct scan *scan;
	struct cell cell;
	int err = scan_open(s, NULL, &range, &scan);

	if (err < 0)
		return err;
	while ((err = scan_next(scan, CURSOR_ROW, &cell)) > 0)
		fprintf(out, "%.*s\n", (int)cell.row.size,
			(const char *)cell.row.data);
	scan_close(scan);
	return err;
}

static int put(struct store *s, const char *row)
{
	static char value[1000];
	struct write *w;
	int err = write_new(s, &w);

	if (err < 0)
		return err;
	err = write_row(w, TABLE, bytes_string(row));
	if (err == 0)
		err = write_set(w, FAMILY, BYTES_LITERAL("q"), 1000,
				bytes_of(value, sizeof(value)));
	if (err == 0)
		err = store_commit(s, w, true);
	write_free(w);
	return err;
}

/* Each line at once: who reads it may kill this then. */
static int write_rows(struct store *s, const char *name, int out)
{
	unsigned long n;
	char row[100];
	int err, size;

	for (n = 1;; n++) {
		size = snprintf(row, sizeof(row), "%s-%08lu", name, n);
		err = put(s, row);
		if (err < 0)
			return err;
		row[size] = '\n';
		if (write(out, row, (size_t)size + 1) != size + 1)
			return -EIO;
	}
}

static int own(struct store *s, const char *name, const char *file)
{
	struct family_spec family = { .name = FAMILY };
	char path[300], whole[300];
	FILE *seen;
	int err, out;

	err = store_create_table(s, TABLE, false, &family, 1);
	if (err < 0 && err != -ERR_table_exists)
		return end("cannot make the table", err);
	snprintf(path, sizeof(path), "%s.seen.new", file);
	seen = fopen(path, "w");
	err = seen ? tell_rows(s, seen) : -errno;
	if (err < 0 || fclose(seen))
		return end("cannot read", err);
	snprintf(whole, sizeof(whole), "%s.seen", file);
	out = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (out < 0 || rename(path, whole) < 0)
		return end("cannot write", -errno);
	return end("refused", write_rows(s, name, out));
}

int main(int argc, char **argv)
{
	uint64_t start = now_ms();
	struct store *s;
	int err, status;

	if (argc != 2 && argc != 4)
		return 2;
	volume_register(volume_plugin.kind);
	err = take(argv[1], &s);
	if (err < 0)
		return end("cannot open", err);
	if (argc == 2) {
		err = tell_rows(s, stdout);
		status = err < 0 ? end("cannot read", err) : 0;
	} else {
		printf("taken %" PRIu64 " %" PRIu64 "\n", now_ms(),
		       now_ms() - start);
		fflush(stdout);
		status = own(s, argv[2], argv[3]);
	}
	err = store_close(s);
	return status ? status : err < 0;
}
