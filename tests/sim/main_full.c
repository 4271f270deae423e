#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/volume_mem.h"

/*
 * The full disk: rows are written and deleted, with flushes, compactions and
 * kills between, while a neighbour takes all space at random moments, and for
 * some time. What was acknowledged has to stay, what was deleted to be gone;
 * deletions are never refused, the store can be opened, and once there is space
 * writes go on. On a volume in memory a run is a function of its seed. Some
 * seeds are run again on a tmpfs of 64 MB of their own, where the neighbour is
 * a process that takes the last byte, over and over, and a kill ends the one
 * that writes; as root only, who may mount one. There the seed does not say
 * when the neighbour gets his turn.
 *
 *   main_full [-seeds N] [-tmpfs N] [-first S] [-ops N] [-seed S]
 */
#define ROWS 200

struct full {
	struct rng rng;
	struct volume *volume;
	struct store *store;
	unsigned int value[ROWS]; /* what it was set to; 0: deleted */
	unsigned int writes;
	bool large; /* files and values */
	bool full;
	unsigned int spent; /* of what a full disk allows a few times */
	unsigned long refused, freed, kills;
	char problem[600];

	/* On a tmpfs, where all of this is shared by the processes. */
	const char *disk;    /* its mount point; NULL: in memory */
	atomic_flag filling; /* a lock: the neighbour writes, or is told */
	unsigned int op;
	bool killed, table;
};

/* Writes to the ballast until nothing more is taken, byte by byte at the end.
 * Needs filling. */
static void take_all(const struct full *t)
{
	static const char data[1 << 20];
	const size_t sizes[] = { sizeof(data), 4096, 1 };
	char path[100];
	size_t i;
	int fd;

	snprintf(path, sizeof(path), "%s/ballast", t->disk);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	for (i = 0; i < 3; i++)
		while (write(fd, data, sizes[i]) > 0)
			;
	close(fd);
}

static void lock_filling(struct full *t)
{
	while (atomic_flag_test_and_set(&t->filling))
		usleep(50);
}

/* The neighbour, who takes what becomes free while the disk is to be full. */
static void be_neighbour(struct full *t)
{
	for (;;) {
		lock_filling(t);
		if (t->full)
			take_all(t);
		atomic_flag_clear(&t->filling);
		usleep(200);
	}
}

/* The disk is full from now on, or not any more. */
static void set_disk(struct full *t, bool full)
{
	char path[100];

	if (!t->disk) {
		volume_mem_fill(t->volume,
				full ? 1 + rng_below(&t->rng, 20) : 0,
				rng_next(&t->rng));
		t->full = full;
		return;
	}
	snprintf(path, sizeof(path), "%s/ballast", t->disk);
	lock_filling(t);
	t->full = full;
	if (full)
		take_all(t);
	else
		unlink(path);
	atomic_flag_clear(&t->filling);
}

static void complain(struct full *t, const char *what, int err)
{
	if (!t->problem[0])
		snprintf(t->problem, sizeof(t->problem), "%s: %s: %s", what,
			 err_detail(), err < 0 ? err_text(err) : "");
}

static void options(const struct full *t, struct store_options *o)
{
	store_options_init(o);
	o->create = true;
	o->background = false;
	/* Many files, or few that are larger than what is always held. */
	o->memtable_size = t->large ? 600000 : 100000;
	o->file_size = t->large ? 1000000 : 20000;
	o->cache_size = 20000;
}

/* Of a disk its volume is opened, too, and ends with the store. */
static int open_with(struct full *t, const struct store_options *o,
		     struct volume *v, struct store **out)
{
	char path[100];
	int err;

	if (!t->disk) {
		volume_mem_keep(v);
		return store_open_volume(v, o, out);
	}
	snprintf(path, sizeof(path), "%s/store", t->disk);
	err = volume_posix_open(path, true, &v);
	return err < 0 ? err : store_open_volume(v, o, out);
}

static void open_store(struct full *t)
{
	struct store_options o;
	int err;

	options(t, &o);
	err = open_with(t, &o, t->volume, &t->store);
	if (err < 0)
		complain(t, "cannot be opened", err);
}

static struct bytes row_key(unsigned int row, char *text)
{
	snprintf(text, 16, "row%03u", row);
	return bytes_string(text);
}

static void put(struct full *t)
{
	unsigned int row = rng_below(&t->rng, ROWS), n = ++t->writes;
	char name[16], value[12000];
	uint32_t size = 16 + rng_below(&t->rng, t->large ? 11900 : 2900);
	struct write *w;
	int err = write_new(t->store, &w);

	if (err < 0)
		abort();
	for (size_t i = 0; i < size; i++)
		value[i] = (char)rng_next(&t->rng);
	snprintf(value, 16, "%u", n);
	err = write_row(w, bytes_string("t"), row_key(row, name));
	if (err == 0)
		err = write_set(w, bytes_string("f"), bytes_string("q"), 1000,
				bytes_of(value, size));
	if (err == 0)
		err = store_commit(t->store, w, rng_one_in(&t->rng, 8));
	write_free(w);
	if (err == 0)
		t->value[row] = n;
	else if (err == -ENOSPC && t->full)
		t->refused++;
	else
		complain(t, "a write is refused", err);
}

/* A row, or the rows from it on. */
static void take_away(struct full *t)
{
	unsigned int row = rng_below(&t->rng, ROWS), end = row + 1;
	char name[16], end_name[16];
	struct write *w;
	int err = write_new(t->store, &w);

	if (err < 0)
		abort();
	if (rng_one_in(&t->rng, 8)) {
		end = row + rng_below(&t->rng, 60);
		end = end < ROWS ? end : ROWS - 1;
		err = write_delete_range(w, bytes_string("t"),
					 row_key(row, name),
					 row_key(end, end_name));
	} else {
		err = write_row(w, bytes_string("t"), row_key(row, name));
		if (err == 0)
			err = write_delete_row(w);
	}
	if (err == 0)
		err = store_commit(t->store, w, rng_one_in(&t->rng, 8));
	write_free(w);
	if (err < 0)
		complain(t, "a deletion is refused", err);
	t->freed += t->full;
	for (; row < end; row++)
		t->value[row] = 0;
}

static void compare(struct full *t, struct store *s)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	unsigned int seen[ROWS] = { 0 }, row;
	struct scan *scan;
	struct cell cell;
	int err = scan_open(s, NULL, &range, &scan);

	while (err == 0 &&
	       (err = scan_next(scan, CURSOR_VERSION, &cell)) == 1) {
		row = (unsigned int)atoi((const char *)cell.row.data + 3);
		seen[row % ROWS] =
			(unsigned int)atoi((const char *)cell.value.data);
		err = 0;
	}
	if (err < 0) {
		complain(t, "cannot be read", err);
		return;
	}
	scan_close(scan);
	for (row = 0; row < ROWS; row++)
		if (seen[row] != t->value[row])
			complain(t,
				 seen[row] == 0       ? "a row was lost"
				 : t->value[row] == 0 ? "a row is back"
						      : "a row is old",
				 0);
}

/* A hook: nothing may change. */
static void changed(void *context, struct volume *v)
{
	(void)v;
	complain(context, "opening to read has written", 0);
}

/* Beside the writer: it needs no lease, and nothing is written. */
static void read_only(struct full *t, struct volume *v)
{
	struct store_options o;
	struct store *s;
	int err;

	options(t, &o);
	o.create = false;
	o.read_only = true;
	if (!t->disk)
		volume_mem_hook(v, changed, t);
	err = open_with(t, &o, v, &s);
	if (err < 0) {
		complain(t, "cannot be opened to be read", err);
	} else {
		compare(t, s);
		store_close(s);
	}
	if (!t->disk)
		volume_mem_hook(v, NULL, NULL);
}

/* The process dies; the neighbour stays. On a disk it does not return. */
static void kill_store(struct full *t)
{
	struct volume *clone;

	t->kills++;
	if (t->disk) {
		t->killed = true;
		t->op++;
		_exit(EXIT_SUCCESS);
	}
	if (volume_mem_kill_clone(t->volume, &clone) < 0)
		abort();
	/* What the old one holds of the old volume ends with it. */
	volume_mem_fail(t->volume, 0, 0, false, 0);
	store_close(t->store);
	t->volume->ops->close(t->volume);
	t->volume = clone;
	if (t->full)
		volume_mem_fill(clone, 1, rng_next(&t->rng));
	read_only(t, clone);
	open_store(t);
}

static void set_full(struct full *t, bool full)
{
	int err;

	t->spent = 0;
	set_disk(t, full);
	if (full)
		return;
	/* What a neighbour left of the pieces is made whole. */
	err = engine_step(store_engine(t->store));
	if (err < 0)
		complain(t, "does not go on", err);
	put(t);
}

/* Sometimes only, what takes pieces while none can be made. */
static bool may_spend(struct full *t)
{
	return !t->full || t->spent++ < 2;
}

static void step(struct full *t)
{
	unsigned int kind = rng_below(&t->rng, 100);
	int err = 0;

	if (kind < 60)
		put(t);
	else if (kind < 85)
		take_away(t);
	else if (kind < 90)
		err = engine_step(store_engine(t->store));
	else if (kind < 92 && may_spend(t))
		err = engine_flush(store_engine(t->store));
	else if (kind < 93 && may_spend(t))
		err = store_compact(t->store, bytes_string("t"));
	else if (kind < 94 && may_spend(t))
		kill_store(t);
	else if (kind < 97)
		set_full(t, !t->full);
	else if (t->store)
		compare(t, t->store);
	if (err < 0 && !(err == -ENOSPC && t->full))
		complain(t, "background work fails", err);
}

static void create_table(struct full *t)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	int err = store_create_table(t->store, bytes_string("t"), false,
				     &family, 1);

	if (err < 0)
		complain(t, "no table", err);
}

static void run(struct full *t, uint64_t seed, unsigned int ops)
{
	t->rng.state = seed;
	t->large = seed % 2 == 0;
	if (volume_mem_new(&t->volume) < 0)
		abort();
	open_store(t);
	create_table(t);
	for (unsigned int i = 0; i < ops && !t->problem[0]; i++)
		step(t);
	if (!t->problem[0]) {
		set_full(t, false);
		compare(t, t->store);
	}
	if (t->store)
		store_close(t->store);
	t->volume->ops->close(t->volume);
}

/* A process that goes on with a run until it is killed. */
static void live(struct full *t, unsigned int ops)
{
	if (t->killed)
		read_only(t, NULL);
	t->killed = false;
	open_store(t);
	if (!t->problem[0] && t->op == 0)
		create_table(t);
	for (; t->op < ops && !t->problem[0]; t->op++)
		step(t);
	if (!t->problem[0]) {
		set_full(t, false);
		compare(t, t->store);
	}
	if (!t->problem[0] && store_close(t->store) < 0)
		complain(t, "cannot be closed", 0);
}

/* Runs f in a process of its own, whose id is returned, and which ends with
 * this one. */
static pid_t begin(void (*f)(struct full *t, unsigned int ops), struct full *t,
		   unsigned int ops)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		f(t, ops);
		_exit(EXIT_SUCCESS);
	}
	return pid;
}

static void neighbour(struct full *t, unsigned int ops)
{
	(void)ops;
	be_neighbour(t);
}

/* A tmpfs that only this process and its children see, on directory. */
static bool mount_disk(const char *directory)
{
	return mount("none", directory, "tmpfs", 0, "size=64m") == 0;
}

/* Mounts of TabletFS that this namespace has copies of: their daemons would not
 * end before this process does. */
static void let_go_of_mounts(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *m;

	while (mounts && (m = getmntent(mounts)))
		if (strcmp(m->mnt_type, "fuse.tabletfs") == 0)
			umount2(m->mnt_dir, MNT_DETACH);
	if (mounts)
		endmntent(mounts);
}

/* As run, on an empty disk that is mounted there. t is shared. */
static void run_on_disk(struct full *t, uint64_t seed, unsigned int ops)
{
	pid_t filler, pid;
	int status;

	t->rng.state = seed;
	t->large = seed % 2 == 0;
	atomic_flag_clear(&t->filling);
	filler = begin(neighbour, t, 0);
	do {
		pid = begin(live, t, ops);
		if (waitpid(pid, &status, 0) != pid || status != 0)
			complain(t, "the process has failed", 0);
	} while (t->killed && !t->problem[0]);
	kill(filler, SIGKILL);
	waitpid(filler, &status, 0);
}

struct totals {
	unsigned long passed, failed, skipped, refused, freed, kills;
};

static void count(struct totals *sum, const struct full *t,
		  unsigned long long seed)
{
	if (t->problem[0])
		printf("seed %llu%s: %s\n", seed, t->disk ? " on a tmpfs" : "",
		       t->problem);
	*(t->problem[0] ? &sum->failed : &sum->passed) += 1;
	sum->refused += t->refused;
	sum->freed += t->freed;
	sum->kills += t->kills;
}

/* Each on a disk of its own, in a namespace that ends with the process. */
static void run_on_disks(struct totals *sum, unsigned long long first,
			 unsigned long long seeds, unsigned int ops)
{
	char directory[] = "/tmp/main_full.XXXXXX";
	unsigned long long seed;
	struct full *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED || !mkdtemp(directory))
		abort();
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    !mount_disk(directory)) {
		sum->skipped += seeds;
		seeds = 0;
	} else {
		umount(directory);
		let_go_of_mounts();
	}
	for (seed = first; seed < first + seeds; seed++) {
		if (!mount_disk(directory))
			abort();
		memset(t, 0, sizeof(*t));
		t->disk = directory;
		run_on_disk(t, seed, ops);
		count(sum, t, seed);
		umount2(directory, MNT_DETACH);
	}
	rmdir(directory);
	munmap(t, sizeof(*t));
}

int main(int argc, char **argv)
{
	unsigned long long seeds = 30, disks = 4, first = 1, seed, ops = 600;
	struct totals sum = { 0 };

	for (int i = 1; i + 1 < argc; i += 2) {
		unsigned long long n = strtoull(argv[i + 1], NULL, 0);

		if (strcmp(argv[i], "-seeds") == 0)
			seeds = n;
		else if (strcmp(argv[i], "-tmpfs") == 0)
			disks = n;
		else if (strcmp(argv[i], "-first") == 0)
			first = n;
		else if (strcmp(argv[i], "-ops") == 0)
			ops = n;
		else if (strcmp(argv[i], "-seed") == 0)
			first = n, seeds = 1, disks = 0;
	}
	for (seed = first; seed < first + seeds; seed++) {
		struct full t = { 0 };

		run(&t, seed, (unsigned int)ops);
		count(&sum, &t, seed);
	}
	if (disks > 0)
		run_on_disks(&sum, first, disks, (unsigned int)ops);
	printf("%lu writes refused and %lu deletions taken on a full disk, %lu "
	       "kills\n",
	       sum.refused, sum.freed, sum.kills);
	printf("%lu passed, %lu failed, %lu skipped\n", sum.passed, sum.failed,
	       sum.skipped);
	return sum.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
