#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/lease/flock.h"
#include "store/base/volume/volume_posix_lease.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/base/volume/volume_posix_partial.h"

static void close_partial(struct volume_partial *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

static int is_held(const struct volume_partial *p)
{
	char who[FLOCK_WHO_SIZE];

	return fail(EEXIST,
		    "%s: %s makes it; wait for its end, or name another "
		    "directory",
		    p->partial, flock_who(p->fd, who));
}

static int is_foreign(const struct volume_partial *p)
{
	return fail(EEXIST,
		    "%s is there, and is nothing that such a command has left; "
		    "move it away, or name another directory",
		    p->partial);
}

/* Makes or finds p->partial, and locks it: 1, 0 if it lost its name before it
 * was locked, or an error. */
static int lock_partial(struct volume_partial *p)
{
	struct stat st;

	if (mkdir(p->partial, S_ISVTX | 0700) < 0 && errno != EEXIST)
		return fail(errno, "%s: cannot make it", p->partial);
	p->fd = open(p->partial,
		     O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (p->fd < 0)
		return errno == ENOENT ? 0 : is_foreign(p);
	if (fstat(p->fd, &st) < 0 || !(st.st_mode & S_ISVTX) ||
	    st.st_uid != geteuid())
		return is_foreign(p);
	if (flock(p->fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? is_held(p)
			       : fail(errno, "%s: cannot lock it", p->partial);
	if (flock_is_named(p->fd, p->partial))
		return 1;
	close_partial(p);
	return 0;
}

/* Removes the store that a command which was killed has left, unless somebody
 * has that open. */
static int clear_left(struct volume_partial *p)
{
	const char *path = (const char *)p->path.data;
	struct buf holder = BUF_INIT;
	bool here, is_used;
	int err = volume_posix_free_name(path);

	if (err != -EEXIST)
		return err;
	is_used = volume_posix_holder(path, &holder, &here) >= 0;
	buf_release(&holder);
	if (is_used)
		return fail(EEXIST,
			    "%s was left by a command that was killed, and is "
			    "in use; end that, or name another directory",
			    path);
	volume_posix_discard(path);
	p->has_removed = true;
	return volume_posix_free_name(path);
}

/* Sets the names beside directory. */
static int name_partial(struct volume_partial *p)
{
	int n = (int)strlen(p->directory);

	while (n > 1 && p->directory[n - 1] == '/')
		n--;
	if (asprintf(&p->partial, "%.*s.partial", n, p->directory) < 0) {
		p->partial = NULL;
		return -ENOMEM;
	}
	if (buf_printf(&p->path, "%s/store", p->partial) < 0)
		return -ENOMEM;
	return buf_terminate(&p->path);
}

static void release(struct volume_partial *p)
{
	close_partial(p);
	free(p->partial);
	buf_release(&p->path);
}

int volume_partial_begin(const char *directory, struct volume_partial *p)
{
	int err = volume_posix_free_name(directory), locked = 0;

	*p = (struct volume_partial){ .path = BUF_INIT,
				      .directory = directory,
				      .fd = -1 };
	if (!err)
		err = name_partial(p);
	while (!err && locked == 0)
		locked = lock_partial(p);
	if (locked < 0)
		err = locked;
	if (locked > 0) {
		/* Who had it before may have made the directory. */
		err = volume_posix_free_name(directory);
		if (!err)
			err = clear_left(p);
		if (err < 0)
			rmdir(p->partial);
	}
	if (err < 0)
		release(p);
	return err;
}

/* The lock stays until the name is gone, for then it is this one's. */
void volume_partial_abandon(struct volume_partial *p)
{
	volume_posix_discard((const char *)p->path.data);
	rmdir(p->partial);
	release(p);
}

void volume_partial_keep(struct volume_partial *p)
{
	fchmod(p->fd, 0700);
	release(p);
}

int volume_partial_finish(struct volume_partial *p)
{
	int err = volume_posix_rename((const char *)p->path.data, p->directory);

	volume_partial_abandon(p);
	return err;
}
