#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/posix_volume.h"
#include "store/base/volume/volume_posix_file.h"

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

bool posix_is_tmp(const char *name)
{
	return ends_with(name, POSIX_TMP);
}

bool posix_is_spare(const char *name)
{
	return ends_with(name, POSIX_SPARE);
}

void posix_tmp_name(const char *name, char *tmp)
{
	assert(strlen(name) <= VOLUME_NAME_MAX);
	snprintf(tmp, POSIX_TMP_NAME_SIZE, "%s" POSIX_TMP, name);
}

int posix_guard(const struct posix_volume *v)
{
	if (!atomic_load_explicit(&v->released, memory_order_acquire))
		return 0;
	return fail(ERR_store_lost, "%s: its lease was released", v->path);
}

char *posix_path(const struct posix_volume *v, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", v->path, name) < 0 ? NULL : path;
}

int posix_write_all(int fd, struct bytes data, const char *path)
{
	while (data.size > 0) {
		/* One write may take less than it is given: at most 2 GiB, or
		 * up to where the disk is full. */
		ssize_t n = write(fd, data.data, data.size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(errno, "%s: cannot write", path);
		data = bytes_after(data, (size_t)n);
	}
	return 0;
}

int posix_write_at(int fd, struct bytes data, uint64_t offset, const char *path)
{
	while (data.size > 0) {
		ssize_t n = pwrite(fd, data.data, data.size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(errno, "%s: cannot write", path);
		data = bytes_after(data, (size_t)n);
		offset += (uint64_t)n;
	}
	return 0;
}

int posix_zero(int fd, const char *path)
{
	static const uint8_t zeros[64 << 10];
	uint64_t at = 0, size;
	struct stat st;
	int err = 0;

	if (fstat(fd, &st) < 0)
		return fail(errno, "%s: cannot tell its size", path);
	while (err == 0 && at < (uint64_t)st.st_size) {
		size = (uint64_t)st.st_size - at;
		if (size > sizeof(zeros))
			size = sizeof(zeros);
		err = posix_write_at(fd, bytes_of(zeros, (size_t)size), at,
				     path);
		at += size;
	}
	return err;
}

int posix_sync_file(int fd, const char *path)
{
	int err;

	do {
		err = fsync(fd);
	} while (err < 0 && errno == EINTR);
	return err < 0 ? fail(errno, "%s: cannot sync", path) : 0;
}

int posix_sync_directory(const struct posix_volume *v)
{
	return posix_sync_file(v->directory, v->path);
}

void posix_remove_tmp(const struct posix_volume *v, const char *name)
{
	char tmp[POSIX_TMP_NAME_SIZE];

	posix_tmp_name(name, tmp);
	unlinkat(v->directory, tmp, 0);
}

int posix_publish(struct posix_volume *v, const char *name, bool replace)
{
	char tmp[POSIX_TMP_NAME_SIZE];
	int err;

	posix_tmp_name(name, tmp);
	err = renameat2(v->directory, tmp, v->directory, name,
			replace ? 0 : RENAME_NOREPLACE);
	if (err < 0 && errno == EINVAL && !replace) {
		/* A file system without that flag. A link fails, too, if there
		 * is such a name. */
		err = linkat(v->directory, tmp, v->directory, name, 0);
		if (!err)
			unlinkat(v->directory, tmp, 0);
	}
	if (err < 0)
		return fail(errno, "%s/%s: cannot rename to %s", v->path, tmp,
			    name);
	err = posix_sync_directory(v);
	/* It is not known to be durable, so nobody may begin to rely on it.
	 * What was replaced cannot be brought back. */
	if (err < 0 && !replace)
		unlinkat(v->directory, name, 0);
	/* -ENOSPC would stand for nothing having changed. */
	return err == -ENOSPC ? -EIO : err;
}

int posix_each_entry(struct posix_volume *v,
		     int (*each)(void *context, const char *name),
		     void *context)
{
	/* A description of its own, as closedir ends it, and so that several
	 * can list at once. */
	int fd = openat(v->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!d) {
		err = fail(errno, "%s: cannot list", v->path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err) {
		errno = 0;
		entry = readdir(d);
		if (!entry) {
			if (errno)
				err = fail(errno, "%s: cannot list", v->path);
			break;
		}
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			err = each(context, entry->d_name);
	}
	closedir(d);
	return err < 0 ? err : 0;
}

/* A file that has a name for a moment, where there are none without: the next
 * lease sweeps what a death leaves of it. */
static int named_scratch(struct posix_volume *v)
{
	static atomic_uint last;
	char tmp[POSIX_TMP_NAME_SIZE];
	int fd;

	snprintf(tmp, sizeof(tmp), "scratch-%u-%u" POSIX_TMP,
		 (unsigned int)getpid(), atomic_fetch_add(&last, 1));
	fd = openat(v->directory, tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd >= 0)
		unlinkat(v->directory, tmp, 0);
	return fd;
}

int posix_scratch(struct volume *volume)
{
	struct posix_volume *v = posix(volume);
	int fd =
		openat(v->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
		fd = named_scratch(v);
	return fd < 0 ? fail(errno, "%s: cannot create a file without a name",
			     v->path)
		      : fd;
}
