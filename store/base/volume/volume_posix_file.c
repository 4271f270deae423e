#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/posix_volume.h"
#include "store/base/volume/volume_posix_file.h"

/* Single files of the directory, whatever they are for. */

bool posix_is_tmp(const char *name)
{
	size_t n = strlen(name), m = strlen(POSIX_TMP);

	return n >= m && strcmp(name + n - m, POSIX_TMP) == 0;
}

char *posix_path(const struct posix_volume *v, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", v->path, name) < 0 ? NULL : path;
}

int posix_write_all(int fd, struct bytes data, const char *path)
{
	while (data.size > 0) {
		ssize_t n = write(fd, data.data, data.size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(errno, "%s: cannot write", path);
		data = bytes_after(data, (size_t)n);
	}
	return 0;
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
	char tmp[VOLUME_NAME_MAX + sizeof(POSIX_TMP)];

	snprintf(tmp, sizeof(tmp), "%s" POSIX_TMP, name);
	unlinkat(v->directory, tmp, 0);
}

int posix_publish(struct posix_volume *v, const char *name, bool replace)
{
	char tmp[VOLUME_NAME_MAX + sizeof(POSIX_TMP)];
	int err;

	snprintf(tmp, sizeof(tmp), "%s" POSIX_TMP, name);
	err = renameat2(v->directory, tmp, v->directory, name,
			replace ? 0 : RENAME_NOREPLACE);
	if (err < 0 && errno == EINVAL && !replace) {
		/* A file system without that flag. */
		err = linkat(v->directory, tmp, v->directory, name, 0);
		if (!err)
			unlinkat(v->directory, tmp, 0);
	}
	if (err < 0)
		return fail(errno, "%s/%s: cannot rename to %s", v->path, tmp,
			    name);
	err = posix_sync_directory(v);
	if (err < 0 && !replace)
		unlinkat(v->directory, name, 0);
	/* That stands for nothing having changed. */
	return err == -ENOSPC ? -EIO : err;
}

int posix_each_entry(struct posix_volume *v,
		     int (*each)(void *context, const char *name),
		     void *context)
{
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
