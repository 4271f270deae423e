#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * One client's system calls on a directory, timed: fsclient WORK DIR COUNT.
 * Prints microseconds per operation. DIR has the rows row00000000 and so on,
 * each with f/q; works that write make names of their own in DIR/w/f, and
 * remove what they made.
 *
 *   stat      of a row, whose name the kernel has only if it was told of it
 *   missing   a name that is not there
 *   read      open, read, close of f/q
 *   create    open of a new file, write, close
 *   rewrite   open with O_TRUNC of a file, write, close
 *   mkdir     of a new directory
 */
static const char *dir;

static void die(const char *what, const char *path)
{
	fprintf(stderr, "fsclient: %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

static void do_stat(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		die("stat", path);
}

static void do_missing(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 || errno != ENOENT)
		die("stat", path);
}

static void do_read(const char *path)
{
	char data[64];
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, data, sizeof(data)) <= 0 || close(fd))
		die("read", path);
}

static void write_with(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | flags, 0644);

	if (fd < 0 || write(fd, "value", 5) != 5 || close(fd))
		die("write", path);
}

static void do_create(const char *path)
{
	write_with(path, O_CREAT | O_EXCL);
}

static void do_rewrite(const char *path)
{
	write_with(path, O_TRUNC);
}

static void do_mkdir(const char *path)
{
	if (mkdir(path, 0755))
		die("mkdir", path);
}

static void do_unlink(const char *path)
{
	if (unlink(path))
		die("unlink", path);
}

static void do_rmdir(const char *path)
{
	if (rmdir(path))
		die("rmdir", path);
}

struct work {
	const char *name, *format; /* of a path, of dir and a number */
	void (*before)(const char *path), (*timed)(const char *path),
		(*after)(const char *path);
};

static const struct work works[] = {
	{ "stat", "%s/row%08u", NULL, do_stat, NULL },
	{ "missing", "%s/w/f/none%08u", NULL, do_missing, NULL },
	{ "read", "%s/row%08u/f/q", NULL, do_read, NULL },
	{ "create", "%s/w/f/new%08u", NULL, do_create, do_unlink },
	{ "rewrite", "%s/w/f/old%08u", do_create, do_rewrite, do_unlink },
	{ "mkdir", "%s/new%08u", NULL, do_mkdir, do_rmdir },
};

static void run(void (*f)(const char *path), const struct work *w,
		unsigned int count)
{
	char path[4096];
	unsigned int i;

	for (i = 0; f && i < count; i++) {
		snprintf(path, sizeof(path), w->format, dir, i);
		f(path);
	}
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	size_t i, n = sizeof(works) / sizeof(*works);
	unsigned int count;
	double began;

	if (argc != 4)
		return 2;
	dir = argv[2];
	count = (unsigned int)strtoul(argv[3], NULL, 10);
	for (i = 0; i < n && strcmp(works[i].name, argv[1]) != 0; i++)
		;
	if (i == n || count == 0)
		return 2;
	run(works[i].before, &works[i], count);
	began = now_us();
	run(works[i].timed, &works[i], count);
	printf("%.3f\n", (now_us() - began) / count);
	run(works[i].after, &works[i], count);
	return 0;
}
