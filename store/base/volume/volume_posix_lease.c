#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/err.h"
#include "store/base/lease/holder.h"
#include "store/base/volume/posix_volume.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_lease.h"
#include "store/base/volume/volume_posix_spare.h"

/* Bytes of the holder's line; what is longer is cut. */
#define HOLDER_MAX 1000

/* Who shares the lease, for people. */
#define READERS "a process that only reads it"
/* Who has it without a lock file. */
#define REPLACED "a process whose file " POSIX_LOCK " was removed or replaced"

/* Replaces what the lock file says by the first line of holder and this
 * process. Not at once: who reads it meanwhile may find parts of both. */
static int write_holder(const struct posix_volume *v, int fd,
			const char *holder)
{
	int size = (int)strcspn(holder, "\n");
	char line[HOLDER_MAX + HOLDER_TEXT_SIZE + 3];
	char who[HOLDER_TEXT_SIZE];
	ssize_t n;

	holder_format(&v->self, who);
	size = snprintf(line, sizeof(line), "%.*s\n%s\n",
			size < HOLDER_MAX ? size : HOLDER_MAX, holder, who);
	n = pwrite(fd, line, (size_t)size, 0);
	if (n >= 0 && n < size)
		return fail(ENOSPC, "%s/" POSIX_LOCK ": cannot write", v->path);
	if (n < 0 || ftruncate(fd, size) < 0)
		return fail(errno, "%s/" POSIX_LOCK ": cannot write", v->path);
	return 0;
}

/* The first line of the lock file, "" if there is none. */
static void read_holder(int fd, char *line)
{
	ssize_t n = pread(fd, line, HOLDER_MAX, 0);

	line[n > 0 ? n : 0] = 0;
	line[strcspn(line, "\n")] = 0;
}

/* Whether the lock file's second line is of a holder; former programs leave
 * none. */
static bool read_who(int fd, struct holder *who)
{
	char text[HOLDER_MAX + HOLDER_TEXT_SIZE + 3];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	char *second;

	*who = (struct holder){ .pid = 0 };
	text[n > 0 ? n : 0] = 0;
	second = strchr(text, '\n');
	return second && holder_parse(second + 1, who);
}

/*
 * The lease is a lock of the open file description, which ends with the last
 * process that has it, and whose holder can be asked for without taking it.
 * (A lock of the process would end when any thread closes any descriptor of the
 * file; flock cannot be asked for.) Who has it to write locks the file for
 * writing, who shares it for reading. l_pid must be 0 for such locks.
 */
static struct flock whole_file(short type)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET };
}

/* Takes err, of a lock on fd that was refused, apart; type is the lock that was
 * wanted. Of readers there is no line: what stands there is a former holder's.
 */
static int lock_refused(struct posix_volume *v, int fd, short type, int err)
{
	struct flock lock = whole_file(type);
	char line[HOLDER_MAX + 1];

	if (err != EAGAIN && err != EACCES)
		return fail(err, "%s/" POSIX_LOCK ": cannot lock", v->path);
	if (fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_RDLCK)
		return fail(ERR_store_in_use, "%s: in use by " READERS,
			    v->path);
	read_holder(fd, line);
	return fail(ERR_store_in_use, "%s: in use by %s", v->path,
		    line[0] ? line : "another process");
}

/* Removes what a process that died was about to write, or keeps its room.
 * Nobody else can be about to: this one has the lease. */
static int sweep_entry(void *context, const char *name)
{
	struct posix_volume *v = context;

	if (strcmp(name, POSIX_ROOT_SPARE) == 0 ||
	    !(posix_is_tmp(name) || posix_is_spare(name)) ||
	    posix_spare_found(v, name))
		return 0;
	/* A directory is not of the store. */
	if (unlinkat(v->directory, name, 0) < 0 && errno != EISDIR)
		return fail(errno, "%s/%s: cannot remove", v->path, name);
	return 0;
}

/* Opens the lock file. It must be a regular one, and nobody's who could lead a
 * reader of its line elsewhere: the directory may be a group's. */
static int open_lock(const struct posix_volume *v, int flags)
{
	struct stat st;
	int fd = openat(v->directory, POSIX_LOCK,
			flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int err;

	if (fd < 0)
		return fail(errno, "%s/" POSIX_LOCK ": cannot open", v->path);
	if (fstat(fd, &st) < 0)
		err = fail(errno, "%s/" POSIX_LOCK, v->path);
	else if (!S_ISREG(st.st_mode))
		err = fail(EINVAL,
			   "%s/" POSIX_LOCK ": is no regular file; remove it, "
			   "and a new one is made",
			   v->path);
	else if (st.st_uid != geteuid() && st.st_uid != 0)
		err = fail(EPERM,
			   "%s/" POSIX_LOCK ": belongs to user %u; work as "
			   "that user, or remove it, and a new one is made",
			   v->path, (unsigned int)st.st_uid);
	else
		return fd;
	close(fd);
	return err;
}

/* That no other file would be written to. Asked with the lock held: until then
 * its holder, who is told, may be the one to whom the name belongs. */
static int check_one_name(const struct posix_volume *v, int fd)
{
	if (posix_has_one_name(fd))
		return 0;
	return fail(EMLINK,
		    "%s/" POSIX_LOCK ": has another name, as in a copy by "
		    "links; remove it, and a new one is made; copy a store by "
		    "tabletfs backup or cp -a",
		    v->path);
}

/* Locks the marker as the lock file was locked, so that who finds no lock file,
 * or another one, meets its former holder there. One with another name, as a
 * copy by links has it, is not the store's alone, and tells nothing. */
static int lock_marker(struct posix_volume *v, short type)
{
	struct flock lock = whole_file(type);
	int flags = type == F_WRLCK ? O_RDWR : O_RDONLY;
	int fd = openat(v->directory, POSIX_MARKER,
			flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	/* A damaged store is read without one. */
	if (fd < 0)
		return type == F_WRLCK
			       ? fail(errno == ENOENT ? ERR_not_a_store : errno,
				      "%s/" POSIX_MARKER, v->path)
			       : 0;
	v->marked = fd;
	if (fstat(fd, &st) == 0 && st.st_nlink > 1)
		return 0;
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0 &&
	    (errno == EAGAIN || errno == EACCES))
		return fail(ERR_store_in_use,
			    "%s: in use by " REPLACED
			    "; end the process, which "
			    "fuser %s/" POSIX_MARKER " names, and try again",
			    v->path, v->path);
	/* Who took the lease to remove a store that was not made has ended. */
	if (type == F_WRLCK && fstat(fd, &st) == 0 && st.st_nlink == 0)
		return fail(ERR_not_a_store,
			    "%s/" POSIX_MARKER ": was removed just now",
			    v->path);
	return 0;
}

/* Each is the last descriptor of its description, so closing it unlocks. */
static void unlock(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* lost is not kept: nobody takes a lock from a process that lives. */
int posix_lease_take(struct volume *volume, const char *holder,
		     void (*lost)(void *context), void *context)
{
	struct posix_volume *v = posix(volume);
	struct flock lock = whole_file(F_WRLCK);
	int fd, err;

	(void)lost;
	(void)context;
	fd = open_lock(v, O_RDWR | O_CREAT);
	if (fd < 0)
		return fd;
	/* Who holds it through v itself is told, as another would be. */
	err = v->lock >= 0 || v->marked >= 0 ? EAGAIN : 0;
	if (!err && fcntl(fd, F_OFD_SETLK, &lock) < 0)
		err = errno;
	if (err) {
		err = lock_refused(v, fd, F_WRLCK, err);
		goto close_file;
	}
	err = check_one_name(v, fd);
	if (err == 0)
		err = lock_marker(v, F_WRLCK);
	if (err < 0)
		goto unlock_marker;
	(void)read_who(fd, &v->former);
	holder_self(&v->self);
	/* The line is for people: a full disk that does not take it keeps
	 * nobody from the store. */
	if (write_holder(v, fd, holder) < 0)
		err_clear();
	err = posix_each_entry(v, sweep_entry, v);
	if (err < 0)
		goto unlock_marker;
	v->lock = fd;
	atomic_store(&v->lease, LEASE_WRITES);
	atomic_store(&v->released, false);
	return 0;

unlock_marker:
	unlock(&v->marked);
close_file:
	close(fd);
	return err;
}

bool volume_posix_had_lease(const struct volume *volume)
{
	const struct posix_volume *v = (const struct posix_volume *)volume;

	return v->lock >= 0 && v->former.pid == v->self.pid &&
	       v->former.start == v->self.start && holder_is_here(&v->former);
}

int posix_lease_check(struct volume *volume)
{
	struct posix_volume *v = posix(volume);

	if (atomic_load_explicit(&v->lease, memory_order_acquire) < LEASE_LEFT)
		return 0;
	return fail(ERR_store_lost, "%s: its lease was released", v->path);
}

uint64_t posix_lease_left(struct volume *volume)
{
	(void)volume;
	return UINT64_MAX;
}

int posix_lease_describe(struct volume *volume, const char *holder)
{
	struct posix_volume *v = posix(volume);
	int err = posix_guard(v);

	if (err < 0)
		return err;
	if (v->lock < 0)
		return fail(EINVAL, "%s: lease is not held", v->path);
	return write_holder(v, v->lock, holder);
}

/* A lock to read needs a descriptor to read. A lock file that is missing is not
 * made here, as that were a change: then the marker alone is locked. */
int posix_lease_share(struct volume *volume)
{
	struct posix_volume *v = posix(volume);
	struct flock lock = whole_file(F_RDLCK);
	int err = 0;

	assert(v->lock < 0 && v->share < 0 && v->marked < 0);
	v->share = open_lock(v, O_RDONLY);
	if (v->share == -ENOENT)
		err_clear();
	else if (v->share < 0)
		err = v->share;
	else if (fcntl(v->share, F_OFD_SETLK, &lock) < 0)
		err = lock_refused(v, v->share, F_RDLCK, errno);
	if (!err)
		err = lock_marker(v, F_RDLCK);
	if (!err) {
		atomic_store(&v->lease, LEASE_SHARES);
		return 0;
	}
	unlock(&v->share);
	unlock(&v->marked);
	return err;
}

void posix_lease_release(struct volume *volume)
{
	struct posix_volume *v = posix(volume);

	if (atomic_load(&v->lease) == LEASE_WRITES)
		atomic_store(&v->released, true);
	if (atomic_load(&v->lease) != LEASE_NEVER)
		atomic_store(&v->lease, LEASE_LEFT);
	unlock(&v->lock);
	unlock(&v->share);
	unlock(&v->marked);
}

/* Whether somebody has the marker locked whose lock file is another's or gone;
 * path is of the lock file. */
static bool is_marked(const char *path)
{
	struct flock lock = whole_file(F_WRLCK);
	int size = (int)(strlen(path) - strlen(POSIX_LOCK)), fd;
	char *marker;
	bool is;

	if (asprintf(&marker, "%.*s" POSIX_MARKER, size, path) < 0)
		return false;
	fd = open(marker, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	free(marker);
	if (fd < 0)
		return false;
	is = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(fd);
	return is;
}

/* Of who wrote no line here: 1 with words for people, or the error. */
static int holder_unknown(const char *path, struct buf *out, int err)
{
	if (err != -ENOENT || !is_marked(path))
		return err;
	err_clear();
	err = buf_set(out, BYTES_LITERAL(REPLACED));
	return err < 0 ? err : 1;
}

int volume_posix_holder(const char *directory, struct buf *out, bool *here)
{
	struct flock lock = whole_file(F_WRLCK);
	char line[HOLDER_MAX + 1];
	struct holder who;
	char *path;
	int fd, err;

	*here = true;
	if (asprintf(&path, "%s/" POSIX_LOCK, directory) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		err = fail(errno, "%s: cannot open", path);
		err = holder_unknown(path, out, err);
		goto free_path;
	}
	if (fcntl(fd, F_OFD_GETLK, &lock) < 0) {
		err = fail(errno, "%s: cannot ask for its lock", path);
	} else if (lock.l_type == F_UNLCK) {
		err = fail(ENOENT, "%s: not held", path);
		err = holder_unknown(path, out, err);
	} else if (lock.l_type == F_RDLCK) {
		err = buf_set(out, BYTES_LITERAL(READERS));
		err = err < 0 ? err : 1;
	} else {
		read_holder(fd, line);
		*here = !read_who(fd, &who) || holder_is_here(&who);
		err = buf_set(out, bytes_string(line));
	}
	close(fd);
free_path:
	free(path);
	return err;
}
