#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/sim/rng.h"

/*
 * Random operations on files in two directories, the one that is tested and
 * one on a local filesystem, after the well-known fsx of NeXT. Each is done in
 * both, and result, errno, bytes and sizes have to be the same. A run is a
 * function of its options, so a failure is replayed by giving them again.
 *
 *   fsx [-seed N] [-ops N] [-files N] [-size N] [-remount N COMMAND]
 *       TESTED LOCAL
 *
 * size is about how large files become. After each N operations COMMAND, which
 * mounts the tested directory anew, runs while nothing is open.
 */
#define HANDLES 6
#define KEPT 24 /* operations that are told after a failure */

enum { TESTED, LOCAL };

struct handle {
	int fd[2]; /* -1: not open */
	int flags;
};

/* What one operation gave on one side. */
struct result {
	int64_t value; /* or -1, with */
	int error;
	unsigned char *data; /* of data_size bytes */
	size_t data_size;
};

static const char *dir[2];
static struct handle handles[HANDLES];
static struct result result[2];
static struct rng rng;
static uint32_t files = 4, size_usual = 5000;
static unsigned long seed = 1, op_index;
static char told[KEPT][120];

static void failed(const char *why)
{
	unsigned long i = op_index >= KEPT ? op_index - KEPT + 1 : 0;

	fprintf(stderr, "fsx: %s\nafter operation %lu of seed %lu:\n", why,
		op_index, seed);
	for (; i <= op_index; i++)
		fprintf(stderr, "  %lu %s\n", i, told[i % KEPT]);
	exit(1);
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(told[op_index % KEPT], sizeof(told[0]), format, args);
	va_end(args);
}

/* Room for n bytes of one side's result. */
static unsigned char *result_data(int side, size_t n)
{
	struct result *r = &result[side];

	if (n > r->data_size) {
		r->data = realloc(r->data, n);
		if (!r->data)
			failed("no memory");
		r->data_size = n;
	}
	return r->data;
}

static void give(int side, int64_t value)
{
	result[side].value = value;
	result[side].error = value < 0 ? errno : 0;
}

/* Both sides did the same, and gave these many bytes of data. */
static void compare(int64_t n)
{
	const struct result *a = &result[TESTED], *b = &result[LOCAL];
	char why[160];
	int64_t i = 0;

	if (a->value != b->value || a->error != b->error) {
		snprintf(why, sizeof(why),
			 "%lld (%s), on the local one %lld "
			 "(%s)",
			 (long long)a->value, strerror(a->error),
			 (long long)b->value, strerror(b->error));
		failed(why);
	}
	while (i < n && a->data[i] == b->data[i])
		i++;
	if (i < n) {
		snprintf(why, sizeof(why),
			 "byte %lld of %lld is %02x, on the local one %02x",
			 (long long)i, (long long)n, a->data[i], b->data[i]);
		failed(why);
	}
}

static const char *path_of(int side, uint32_t file)
{
	static char path[2][2][4096];
	static int turn;

	turn = !turn;
	snprintf(path[side][turn], sizeof(path[0][0]), "%s/file%u", dir[side],
		 file);
	return path[side][turn];
}

static uint32_t some_file(void)
{
	return rng_below(&rng, files);
}

/* The size that an open file has, on both sides. */
static int64_t size_of(const struct handle *h)
{
	struct stat st;
	int side;

	for (side = 0; side < 2; side++) {
		give(side, fstat(h->fd[side], &st));
		if (result[side].value == 0)
			result[side].value = st.st_size;
	}
	compare(0);
	return result[TESTED].value;
}

static void close_handle(struct handle *h)
{
	int side;

	for (side = 0; side < 2; side++) {
		give(side, close(h->fd[side]));
		h->fd[side] = -1;
	}
	compare(0);
}

static void do_open(struct handle *h)
{
	static const int access[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR };
	uint32_t file = some_file();
	int side;

	if (h->fd[0] >= 0)
		close_handle(h);
	h->flags = access[rng_below(&rng, 4)];
	if (rng_below(&rng, 3))
		h->flags |= O_CREAT;
	if (rng_one_in(&rng, 4))
		h->flags |= O_TRUNC;
	if (rng_one_in(&rng, 4))
		h->flags |= O_APPEND;
	if (rng_one_in(&rng, 10))
		h->flags |= O_EXCL;
	/* Linux leaves it open what truncating without writing does. */
	if ((h->flags & O_ACCMODE) == O_RDONLY)
		h->flags &= ~O_TRUNC;
	tell("open file%u flags %o in %d", file, h->flags, (int)(h - handles));
	for (side = 0; side < 2; side++) {
		h->fd[side] = open(path_of(side, file), h->flags, 0644);
		give(side, h->fd[side] < 0 ? -1 : 0);
	}
	compare(0);
}

static void do_close(struct handle *h)
{
	tell("close %d", (int)(h - handles));
	close_handle(h);
}

/* Bytes that tell where and by which operation they were written. */
static void fill(unsigned char *data, size_t n, int64_t at)
{
	size_t i;

	for (i = 0; i < n; i++)
		data[i] = (unsigned char)(op_index * 31 + (at + i) * 7 + 1);
}

/* A place in a file, and how many bytes from there. */
static int64_t some_place(uint32_t *n)
{
	static const uint32_t parts[] = { 1, 10, 100 };

	*n = 1 + rng_below(&rng, 1 + size_usual / parts[rng_below(&rng, 3)]);
	return rng_below(&rng, size_usual);
}

static void do_write(struct handle *h)
{
	uint32_t n;
	int64_t at = some_place(&n);
	int side;

	tell("write %d at %lld, %u bytes", (int)(h - handles), (long long)at,
	     n);
	for (side = 0; side < 2; side++) {
		fill(result_data(side, n), n, at);
		give(side, pwrite(h->fd[side], result[side].data, n, at));
	}
	compare(0);
}

static void do_read(struct handle *h)
{
	uint32_t n;
	int64_t at = some_place(&n);
	int side;

	tell("read %d at %lld, %u bytes", (int)(h - handles), (long long)at, n);
	for (side = 0; side < 2; side++)
		give(side, pread(h->fd[side], result_data(side, n), n, at));
	compare(result[TESTED].value);
}

static void do_ftruncate(struct handle *h)
{
	int64_t n = rng_one_in(&rng, 4) ? 0 : rng_below(&rng, size_usual);
	int side;

	tell("ftruncate %d to %lld", (int)(h - handles), (long long)n);
	for (side = 0; side < 2; side++)
		give(side, ftruncate(h->fd[side], n));
	compare(0);
}

static void do_sync(struct handle *h)
{
	bool data = rng_one_in(&rng, 2);
	int side;

	tell("fsync %d", (int)(h - handles));
	for (side = 0; side < 2; side++)
		give(side, data ? fdatasync(h->fd[side]) : fsync(h->fd[side]));
	compare(0);
}

/* Reads, and if it is open for that writes, through a mapping of all of it. */
static void do_map(struct handle *h)
{
	bool writes = (h->flags & O_ACCMODE) == O_RDWR && rng_one_in(&rng, 2);
	bool syncs = rng_one_in(&rng, 2);
	int protection = PROT_READ | (writes ? PROT_WRITE : 0), side;
	int64_t size = size_of(h), at;
	unsigned char *map;
	uint32_t n;

	if (size == 0 || (h->flags & O_ACCMODE) == O_WRONLY)
		return;
	at = some_place(&n) % size;
	n = n < size - at ? n : (uint32_t)(size - at);
	tell("map %d, %s at %lld, %u bytes%s", (int)(h - handles),
	     writes ? "write" : "read", (long long)at, n,
	     syncs ? ", msync" : "");
	for (side = 0; side < 2; side++) {
		map = mmap(NULL, size, protection, MAP_SHARED, h->fd[side], 0);
		give(side, map == MAP_FAILED ? -1 : 0);
		if (map == MAP_FAILED)
			continue;
		if (writes)
			fill(map + at, n, at);
		memcpy(result_data(side, n), map + at, n);
		if (writes && syncs)
			give(side, msync(map, size, MS_SYNC));
		munmap(map, size);
	}
	compare(result[TESTED].value < 0 ? 0 : n);
}

/* From one open file to another, inside the kernel. */
static void do_copy(struct handle *h)
{
	struct handle *to = &handles[rng_below(&rng, HANDLES)];
	bool range = rng_one_in(&rng, 2);
	uint32_t n;
	int64_t at = some_place(&n);
	loff_t from, target;
	int side;

	if (to->fd[0] < 0 || to == h || ((h->flags | to->flags) & O_APPEND))
		return;
	tell("copy %d at %lld to %d, %u bytes", (int)(h - handles),
	     (long long)at, (int)(to - handles), n);
	for (side = 0; side < 2; side++) {
		from = at;
		target = at / 2;
		if (range) {
			give(side,
			     copy_file_range(h->fd[side], &from, to->fd[side],
					     &target, n, 0));
			continue;
		}
		give(side, lseek(to->fd[side], target, SEEK_SET));
		give(side, sendfile(to->fd[side], h->fd[side], &from, n));
	}
	compare(0);
}

static void do_truncate(struct handle *h)
{
	uint32_t file = some_file();
	int64_t n = rng_below(&rng, size_usual);
	int side;

	(void)h;
	tell("truncate file%u to %lld", file, (long long)n);
	for (side = 0; side < 2; side++)
		give(side, truncate(path_of(side, file), n));
	compare(0);
}

static void do_rename(struct handle *h)
{
	static const unsigned int flags[] = { 0, 0, 0, RENAME_NOREPLACE,
					      RENAME_EXCHANGE };
	unsigned int flag = flags[rng_below(&rng, 5)];
	uint32_t from = some_file(), to = some_file();
	int side;

	(void)h;
	tell("rename file%u to file%u flag %u", from, to, flag);
	for (side = 0; side < 2; side++)
		give(side, renameat2(AT_FDCWD, path_of(side, from), AT_FDCWD,
				     path_of(side, to), flag));
	compare(0);
}

static void do_unlink(struct handle *h)
{
	uint32_t file = some_file();
	int side;

	(void)h;
	tell("unlink file%u", file);
	for (side = 0; side < 2; side++)
		give(side, unlink(path_of(side, file)));
	compare(0);
}

/* All that a file has, by a handle of its own. */
static void compare_file(uint32_t file)
{
	struct stat st;
	int side, fd;

	for (side = 0; side < 2; side++) {
		fd = open(path_of(side, file), O_RDONLY);
		give(side, fd < 0 ? -1 : fstat(fd, &st));
		if (fd < 0)
			continue;
		result_data(side, (size_t)st.st_size + 1);
		give(side, pread(fd, result[side].data, st.st_size + 1, 0));
		if (result[side].value != st.st_size)
			result[side].value += INT64_C(1) << 40;
		close(fd);
	}
	compare(result[TESTED].value);
}

static void do_compare(struct handle *h)
{
	uint32_t file = some_file();

	(void)h;
	tell("compare file%u", file);
	compare_file(file);
}

/* The files that a directory lists, as a set. */
static void do_list(struct handle *h)
{
	struct dirent *entry;
	unsigned int number;
	DIR *d;
	int side;

	(void)h;
	tell("list");
	for (side = 0; side < 2; side++) {
		memset(result_data(side, files), 0, files);
		d = opendir(dir[side]);
		if (!d)
			failed("cannot list");
		give(side, 0);
		while ((entry = readdir(d)) != NULL)
			if (sscanf(entry->d_name, "file%u", &number) == 1) {
				result[side].data[number]++;
				result[side].value++;
			}
		closedir(d);
	}
	compare(files);
}

struct operation {
	void (*run)(struct handle *h);
	uint32_t share;
	bool needs_handle;
};

static const struct operation operations[] = {
	{ do_open, 12, false },    { do_close, 5, true },
	{ do_write, 16, true },    { do_read, 16, true },
	{ do_ftruncate, 5, true }, { do_sync, 3, true },
	{ do_map, 8, true },       { do_copy, 4, true },
	{ do_truncate, 2, false }, { do_rename, 4, false },
	{ do_unlink, 2, false },   { do_compare, 6, false },
	{ do_list, 1, false },
};

static void one(void)
{
	struct handle *h = &handles[rng_below(&rng, HANDLES)];
	uint32_t sum = 0, at;
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		sum += operations[i].share;
	at = rng_below(&rng, sum);
	for (i = 0; at >= operations[i].share; i++)
		at -= operations[i].share;
	if (operations[i].needs_handle && h->fd[0] < 0)
		i = 0;
	operations[i].run(h);
	if (h->fd[0] >= 0 && size_of(h) > 4 * (int64_t)size_usual &&
	    (h->flags & O_ACCMODE) != O_RDONLY)
		do_ftruncate(h);
}

static void close_all(void)
{
	int i;

	for (i = 0; i < HANDLES; i++)
		if (handles[i].fd[0] >= 0)
			close_handle(&handles[i]);
}

static void compare_all(void)
{
	uint32_t i;

	tell("compare all");
	do_list(NULL);
	for (i = 0; i < files; i++)
		compare_file(i);
}

static bool parse(int argc, char **argv, unsigned long *ops,
		  unsigned long *every, const char **command)
{
	int i, n = 0;

	for (i = 1; i < argc; i++) {
		bool more = i + 1 < argc;

		if (more && !strcmp(argv[i], "-seed")) {
			seed = strtoul(argv[++i], NULL, 10);
		} else if (more && !strcmp(argv[i], "-ops")) {
			*ops = strtoul(argv[++i], NULL, 10);
		} else if (more && !strcmp(argv[i], "-files")) {
			files = (uint32_t)strtoul(argv[++i], NULL, 10);
		} else if (more && !strcmp(argv[i], "-size")) {
			size_usual = (uint32_t)strtoul(argv[++i], NULL, 10);
		} else if (i + 2 < argc && !strcmp(argv[i], "-remount")) {
			*every = strtoul(argv[++i], NULL, 10);
			*command = argv[++i];
		} else if (n < 2) {
			dir[n++] = argv[i];
		} else {
			return false;
		}
	}
	return n == 2 && files && size_usual;
}

int main(int argc, char **argv)
{
	unsigned long ops = 1000, every = 0;
	const char *command = NULL;
	int i;

	if (!parse(argc, argv, &ops, &every, &command)) {
		fprintf(stderr, "usage: see tests/fs/fsx.c\n");
		return 2;
	}
	rng.state = seed;
	for (i = 0; i < HANDLES; i++)
		handles[i].fd[0] = handles[i].fd[1] = -1;
	for (op_index = 0; op_index < ops; op_index++) {
		one();
		if (!every || (op_index + 1) % every)
			continue;
		close_all();
		compare_all();
		if (system(command) != 0)
			failed("cannot mount again");
		compare_all();
	}
	close_all();
	compare_all();
	printf("%lu operations\n", ops);
	return 0;
}
