#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/command/metrics_file.h"
#include "store/base/err.h"

#define SUFFIX ".prom"

struct metrics_file {
	int directory;
	struct buf path;      /* as it was named, ended by a NUL */
	const char *name;     /* its last part */
	struct buf temporary; /* a name beside it, ended by a NUL */
	struct buf label;     /* ended by a NUL */
	struct buf text;      /* kept from one time to the next */
	int printed;          /* 0, or why text has not all */
	int failed;           /* the error of the last time */
	int own_fd;      /* what was written last, locked; -1: nothing was */
	struct stat own; /* of that */
};

/* Whether a directory is one of a tabletfs mount, as the kernel's table of
 * mounts says, which asks no daemon. */
static bool is_in_mount(int directory)
{
	FILE *table = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *after;
	size_t size = 0;
	struct statx st;
	bool found = false;

	if (table && !statx(directory, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			    STATX_MNT_ID, &st))
		while (!found && getline(&line, &size, table) > 0)
			found = strtoull(line, &after, 10) == st.stx_mnt_id &&
				after > line &&
				strstr(line, " - fuse.tabletfs ");
	free(line);
	if (table)
		fclose(table);
	return found;
}

/* The directory of path. */
static int open_directory(struct metrics_file *m, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory =
		slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	if (!directory)
		return -ENOMEM;
	m->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (m->directory < 0)
		fail(errno, "metrics-file=%s: its directory %s: %s", path,
		     directory, strerror(errno));
	free(directory);
	if (m->directory < 0)
		return -ERR_bad_argument;
	if (is_in_mount(m->directory))
		return fail(ERR_bad_argument,
			    "metrics-file=%s: it lies inside a tabletfs mount, "
			    "whose data it would change every ten seconds; "
			    "name a directory outside",
			    path);
	if (faccessat(m->directory, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return fail(ERR_bad_argument,
			    "metrics-file=%s: its directory may not be written",
			    path);
	return 0;
}

/* The names and the label, of which the process's number keeps others that
 * write there out of each other's way. */
static int set_names(struct metrics_file *m, const char *path,
		     const char *store)
{
	size_t size = strlen(path), suffix = strlen(SUFFIX);
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	int err;

	if (size < suffix || strcmp(path + size - suffix, SUFFIX) != 0 ||
	    strlen(name) == suffix)
		return fail(ERR_bad_argument,
			    "metrics-file=%s: its name has to end in " SUFFIX
			    ", as node_exporter reads no others",
			    path);
	err = buf_set(&m->path, bytes_string(path));
	if (!err)
		err = buf_terminate(&m->path);
	if (!err)
		err = buf_printf(&m->temporary, ".%s.%d", name, (int)getpid());
	if (!err)
		err = buf_terminate(&m->temporary);
	if (!err)
		err = figures_label("store", bytes_string(store), &m->label);
	if (!err)
		err = buf_terminate(&m->label);
	if (!err)
		m->name = (char *)m->path.data + (name - path);
	return err;
}

/* Whether another process has a lock on what is at the name, as who writes it
 * has: 0 or an error. What is no file is replaced. */
static int check_writer(const struct metrics_file *m)
{
	struct stat st;
	int fd, err = 0;

	if (fstatat(m->directory, m->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) ||
	    (m->own_fd >= 0 && st.st_ino == m->own.st_ino &&
	     st.st_dev == m->own.st_dev))
		return 0;
	fd = openat(m->directory, m->name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	/* Two that only look are not in each other's way. */
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		err = fail(EBUSY,
			   "metrics-file=%s: another mount or server writes "
			   "it; give each a file of its own",
			   (char *)m->path.data);
	close(fd);
	return err;
}

/* Makes the temporary file: its descriptor, or a negative errno. What is there
 * a process of this number has left. */
static int make_temporary(const struct metrics_file *m)
{
	const char *temporary = (char *)m->temporary.data;
	int fd;

	(void)unlinkat(m->directory, temporary, 0);
	fd = openat(m->directory, temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : fd;
}

/* Tells who starts the server what would fail with each writing. */
static int try_to_write(struct metrics_file *m)
{
	struct stat st;
	int fd;

	if (fstatat(m->directory, m->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode))
		return fail(ERR_bad_argument,
			    "metrics-file=%s: it is a directory",
			    (char *)m->path.data);
	if (check_writer(m) < 0)
		return -ERR_bad_argument;
	fd = make_temporary(m);
	/* A disk that is full may have room later. */
	if (fd < 0 && fd != -ENOSPC && fd != -EDQUOT)
		return fail(ERR_bad_argument,
			    "metrics-file=%s: no file can be made there: %s",
			    (char *)m->path.data, strerror(-fd));
	if (fd >= 0) {
		close(fd);
		(void)unlinkat(m->directory, (char *)m->temporary.data, 0);
	}
	return 0;
}

int metrics_file_open(const char *path, const char *store,
		      struct metrics_file **out)
{
	struct metrics_file *m = calloc(1, sizeof(*m));
	int err;

	*out = NULL;
	if (!m)
		return -ENOMEM;
	m->directory = m->own_fd = -1;
	err = set_names(m, path, store);
	if (!err)
		err = open_directory(m, path);
	if (!err)
		err = try_to_write(m);
	if (err)
		metrics_file_close(m);
	else
		*out = m;
	return err;
}

static int write_all(int fd, struct bytes rest)
{
	while (rest.size > 0) {
		ssize_t n = write(fd, rest.data, rest.size);

		if (n < 0 && errno != EINTR)
			return -errno;
		rest = bytes_after(rest, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

/* A new file, locked before it has the name, takes that of the one before. */
static int replace(struct metrics_file *m)
{
	const char *temporary = (char *)m->temporary.data;
	struct stat st;
	int fd = make_temporary(m), err;

	if (fd < 0)
		return fd;
	/* Where no file can be locked, nobody is kept out. */
	(void)flock(fd, LOCK_EX | LOCK_NB);
	/* node_exporter has a user of its own, whatever the umask is. */
	err = fchmod(fd, 0644) < 0 ? -errno : 0;
	if (!err)
		err = write_all(fd, buf_bytes(&m->text));
	/* Some disks tell only a close that they are full. */
	if (!err && (close(dup(fd)) < 0 || fstat(fd, &st) < 0))
		err = -errno;
	if (!err &&
	    renameat(m->directory, temporary, m->directory, m->name) < 0)
		err = -errno;
	if (err) {
		(void)unlinkat(m->directory, temporary, 0);
		close(fd);
		return err;
	}
	if (m->own_fd >= 0)
		close(m->own_fd);
	m->own_fd = fd;
	m->own = st;
	return 0;
}

void metrics_file_print(struct metrics_file *m,
			void (*print)(void *context, struct figures *f),
			void *context)
{
	struct figures f = { .out = &m->text, .common = (char *)m->label.data };

	buf_reset(&m->text);
	print(context, &f);
	m->printed = f.err;
}

int metrics_file_write(struct metrics_file *m, bool *is_new)
{
	int err = check_writer(m), busy = err;

	if (!err)
		err = m->printed ? m->printed : replace(m);
	*is_new = err != m->failed;
	m->failed = err;
	return err && !busy ? fail(-err, "metrics-file=%s: %s",
				   (char *)m->path.data, strerror(-err))
			    : err;
}

void metrics_file_close(struct metrics_file *m)
{
	struct stat st;

	if (!m)
		return;
	/* A number of a file may be used again at once. */
	if (m->own_fd >= 0 &&
	    fstatat(m->directory, m->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_ino == m->own.st_ino && st.st_dev == m->own.st_dev &&
	    !memcmp(&st.st_mtim, &m->own.st_mtim, sizeof(st.st_mtim)))
		(void)unlinkat(m->directory, m->name, 0);
	if (m->own_fd >= 0)
		close(m->own_fd);
	if (m->directory >= 0)
		close(m->directory);
	buf_release(&m->path);
	buf_release(&m->temporary);
	buf_release(&m->label);
	buf_release(&m->text);
	free(m);
}
