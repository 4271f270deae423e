#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix.h"
#include "tests/sim/disk.h"
#include "tests/sim/script.h"

/*
 * The store on a real directory whose system calls are not to be relied on (see
 * disk.h). Every n-th call is interrupted, does half of what was asked, or
 * fails with EIO or ENOSPC, once or with all after it; and the power is cut
 * before and after each change to the directory or to a file. main_io and
 * main_crash do the same to what is above the volume; this is about
 * volume_posix: its loops, its syncs of files and of the directory, its
 * renames.
 *
 *   main_posix [-every N] [-cuts N] [-seed S] [-findings N]
 *
 * It ends early after so many findings; 0, as without: when all is done.
 */
static char watched[64], crashed[64];
static unsigned long passed, failed, cuts, faults[5];
static unsigned long enough; /* findings; 0: they are never */

static void empty(const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *entry;

	if (!d)
		abort();
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
}

static struct volume *open_volume(const char *directory, struct script *r)
{
	struct volume *v = NULL;

	if (volume_posix_open(directory, true, &v) < 0 && r && !disk_failed())
		script_complain(r, err_detail());
	return v;
}

static void count(const struct script *r, const char *what, unsigned long n)
{
	if (!r->problem[0]) {
		passed++;
		return;
	}
	failed++;
	printf("%s, call or seed %lu: %s\n", what, n, r->problem);
}

static bool is_done(void)
{
	return enough > 0 && failed >= enough;
}

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

/* False when there is no n-th call. */
static bool run(uint64_t n, const struct kind *k)
{
	struct script r = { .table = false };
	struct volume *v;
	bool happened;
	unsigned int i;

	empty(watched);
	disk_watch(watched);
	disk_fail(n, k->fault, k->error, k->forever);
	v = open_volume(watched, &r);
	if (v)
		script_run(v, &r);
	happened = disk_failed();
	disk_fail(0, DISK_ERROR, 0, false);
	for (i = 0; i < SCRIPT_ROWS && k->harmless; i++)
		if (!r.acknowledged[i])
			script_complain(&r, "the store did not put up with it");
	if (disk_open_count() > 0)
		script_complain(&r, "a file was not closed");
	disk_reset();
	v = open_volume(watched, &r);
	if (v)
		script_look(v, &r, false);
	count(&r, k->name, n);
	faults[k->fault] += happened;
	return happened;
}

struct power {
	struct script script;
	struct rng rng;
	unsigned int cuts;
};

static void cut(void *context)
{
	struct power *p = context;
	unsigned int i;

	for (i = 0; i < p->cuts && !is_done(); i++) {
		struct script r = p->script;
		uint64_t seed = p->rng.state;
		struct volume *v;

		empty(crashed);
		disk_crash(&p->rng, crashed);
		v = open_volume(crashed, &r);
		if (v)
			script_look(v, &r, true);
		cuts++;
		count(&r, "power cut", (unsigned long)seed);
	}
}

static void cut_power(unsigned int each, uint64_t seed)
{
	struct power p = { .rng = { seed }, .cuts = each };
	struct volume *v;

	empty(watched);
	disk_watch(watched);
	disk_hook(cut, &p);
	v = open_volume(watched, &p.script);
	if (v)
		script_run(v, &p.script);
	/* A second opening: its root takes the place of a former one. */
	v = open_volume(watched, &p.script);
	if (v)
		script_look(v, &p.script, false);
	disk_hook(NULL, NULL);
	count(&p.script, "script", 0);
	disk_reset();
}

int main(int argc, char **argv)
{
	unsigned long every = 31, each = 3, seed = 1, n;
	size_t i;

	for (i = 1; i + 1 < (size_t)argc; i += 2) {
		n = strtoul(argv[i + 1], NULL, 0);
		if (strcmp(argv[i], "-every") == 0)
			every = n;
		else if (strcmp(argv[i], "-cuts") == 0)
			each = n;
		else if (strcmp(argv[i], "-seed") == 0)
			seed = n;
		else if (strcmp(argv[i], "-findings") == 0)
			enough = n;
	}
	printf("seed %lu\n", seed);
	/* Only the kernel's memory is needed. */
	strcpy(watched, "/dev/shm/main_posix.XXXXXX");
	strcpy(crashed, "/dev/shm/main_posix.XXXXXX");
	if (!mkdtemp(watched) || !mkdtemp(crashed))
		abort();
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && every > 0; i++)
		for (n = 1 + seed % every; !is_done() && run(n, &kinds[i]);
		     n += every)
			;
	if (each > 0 && !is_done())
		cut_power((unsigned int)each, seed);
	empty(watched);
	empty(crashed);
	rmdir(watched);
	rmdir(crashed);
	printf("%lu errors, %lu interruptions, %lu halves injected, %lu power "
	       "cuts\n",
	       faults[DISK_ERROR], faults[DISK_INTERRUPTED], faults[DISK_SHORT],
	       cuts);
	printf("%lu passed, %lu failed, 0 skipped\n", passed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
