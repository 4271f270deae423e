#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	uint64_t due_us;
	int failed;      /* the error of the last time */
	struct stat own; /* of what was written last; st_ino 0: nothing was */
};

/* The directory of path, which has room for a NUL more. */
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

/* Tells who starts the server what would fail with each writing. */
static int try_to_write(struct metrics_file *m)
{
	const char *temporary = (char *)m->temporary.data;
	struct stat st;
	int fd;

	if (fstatat(m->directory, m->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode))
		return fail(ERR_bad_argument,
			    "metrics-file=%s: it is a directory",
			    (char *)m->path.data);
	(void)unlinkat(m->directory, temporary, 0);
	fd = openat(m->directory, temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	/* A disk that is full may have room later. */
	if (fd < 0 && errno != ENOSPC && errno != EDQUOT)
		return fail(ERR_bad_argument,
			    "metrics-file=%s: no file can be made there: %s",
			    (char *)m->path.data, strerror(errno));
	if (fd >= 0) {
		close(fd);
		(void)unlinkat(m->directory, temporary, 0);
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
	m->directory = -1;
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

bool metrics_file_is_due(struct metrics_file *m, uint64_t now_us)
{
	if (now_us < m->due_us)
		return false;
	m->due_us = now_us + METRICS_FILE_US;
	return true;
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

/* A new file takes the name of the one before. What is at the temporary name is
 * what a process of this number has left. */
static int replace(struct metrics_file *m, struct bytes text)
{
	const char *temporary = (char *)m->temporary.data;
	struct stat st;
	int fd, err;

	(void)unlinkat(m->directory, temporary, 0);
	fd = openat(m->directory, temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	/* node_exporter has a user of its own, whatever the umask is. */
	err = fchmod(fd, 0644) < 0 ? -errno : 0;
	if (!err)
		err = write_all(fd, text);
	if (!err && fstat(fd, &st) < 0)
		err = -errno;
	if (close(fd) < 0 && !err)
		err = -errno;
	if (!err &&
	    renameat(m->directory, temporary, m->directory, m->name) < 0)
		err = -errno;
	if (err)
		(void)unlinkat(m->directory, temporary, 0);
	else
		m->own = st;
	return err;
}

int metrics_file_write(struct metrics_file *m,
		       void (*print)(void *context, struct figures *f),
		       void *context, bool *is_new)
{
	struct figures f = { .out = &m->text, .common = (char *)m->label.data };
	int err;

	buf_reset(&m->text);
	print(context, &f);
	err = f.err ? f.err : replace(m, buf_bytes(&m->text));
	*is_new = err != m->failed;
	m->failed = err;
	return err ? fail(-err, "metrics-file=%s: %s", (char *)m->path.data,
			  strerror(-err))
		   : 0;
}

void metrics_file_close(struct metrics_file *m)
{
	struct stat st;

	if (!m)
		return;
	/* A number of a file may be used again at once. */
	if (m->own.st_ino &&
	    fstatat(m->directory, m->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_ino == m->own.st_ino && st.st_dev == m->own.st_dev &&
	    !memcmp(&st.st_mtim, &m->own.st_mtim, sizeof(st.st_mtim)))
		(void)unlinkat(m->directory, m->name, 0);
	if (m->directory >= 0)
		close(m->directory);
	buf_release(&m->path);
	buf_release(&m->temporary);
	buf_release(&m->label);
	buf_release(&m->text);
	free(m);
}
