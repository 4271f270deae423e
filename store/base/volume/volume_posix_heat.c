#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_heat.h"

/* Opens it with these flags besides: a descriptor or an error. A pipe is not
 * waited for. */
static int open_heat(struct posix_volume *v, int flags, struct stat *st)
{
	int fd = openat(v->directory, VOLUME_HEAT,
			flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return fail(errno, "%s/" VOLUME_HEAT ": cannot open", v->path);
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return fail(EIO,
		    "%s/" VOLUME_HEAT ": not a regular file, so there is no "
		    "history of heat; move it away",
		    v->path);
}

int posix_heat_read(struct volume *volume, struct buf *out)
{
	struct posix_volume *v = posix(volume);
	struct stat st;
	ssize_t n = 1;
	int fd = open_heat(v, O_RDONLY, &st), err;

	if (fd == -ENOENT) {
		err_clear();
		return 0;
	}
	if (fd < 0)
		return fd;
	err = (uint64_t)st.st_size > VOLUME_HEAT_MAX
		      ? 1
		      : buf_reserve(out, (size_t)st.st_size);
	while (err == 0 && n > 0 && out->size < out->capacity) {
		n = read(fd, out->data + out->size, out->capacity - out->size);
		if (n < 0 && errno != EINTR)
			err = fail(errno, "%s/" VOLUME_HEAT ": cannot read",
				   v->path);
		if (n > 0)
			out->size += (size_t)n;
		n = n < 0 ? 1 : n;
	}
	close(fd);
	return err < 0 ? err : 0;
}

int posix_heat_append(struct volume *volume, uint64_t size, struct bytes data)
{
	struct posix_volume *v = posix(volume);
	struct stat st;
	int fd, err = posix_guard(v);

	if (err < 0)
		return err;
	if (v->lock < 0)
		return fail(EINVAL, "%s: lease is not held", v->path);
	fd = open_heat(v, O_WRONLY | O_APPEND, &st);
	if (fd == -ENOENT)
		return -ESTALE;
	if (fd < 0)
		return fd;
	if ((uint64_t)st.st_size != size || st.st_nlink != 1) {
		close(fd);
		return -ESTALE;
	}
	err = posix_write_all(fd, data, v->path);
	/* What a full disk took of it. */
	if (err < 0 && ftruncate(fd, st.st_size) < 0)
		err = -EIO;
	close(fd);
	return err;
}

int posix_heat_replace(struct volume *volume, struct bytes content)
{
	struct posix_volume *v = posix(volume);
	char tmp[POSIX_TMP_NAME_SIZE];
	int fd, err = posix_guard(v);

	if (err < 0)
		return err;
	if (v->lock < 0)
		return fail(EINVAL, "%s: lease is not held", v->path);
	posix_tmp_name(VOLUME_HEAT, tmp);
	unlinkat(v->directory, tmp, 0);
	fd = openat(v->directory, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return fail(errno, "%s/%s: cannot create", v->path, tmp);
	err = posix_write_all(fd, content, v->path);
	close(fd);
	if (err == 0 &&
	    renameat(v->directory, tmp, v->directory, VOLUME_HEAT) < 0)
		err = fail(errno, "%s/" VOLUME_HEAT ": cannot replace",
			   v->path);
	if (err < 0)
		posix_remove_tmp(v, VOLUME_HEAT);
	return err;
}
