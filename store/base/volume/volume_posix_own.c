#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/base/volume/posix_volume.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_lease.h"
#include "store/base/volume/volume_posix_own.h"
#include "store/base/volume/volume_posix_spare.h"

/* The format of names in the directory; formats of files have versions of their
 * own, see README.md. */
#define MARKER_NAME "TabletFS store"
#define MARKER_START MARKER_NAME ", format "
#define MARKER_TEXT MARKER_START "1\n"
#define ROOT_MAGIC "tfsroot1"
#define ROOT_HEADER_SIZE 16 /* magic, u64 version */
static_assert(sizeof(ROOT_MAGIC) - 1 + sizeof(uint64_t) == ROOT_HEADER_SIZE,
	      "a root begins with its magic and its version");

/* Every 10 ms, so that it is two seconds; a swap takes two syncs. */
#define LOCK_TRIES_MAX 200

/* Makes or replaces one of the small files that are the volume's own, durably:
 * after a power cut there is the former one or this. -ENOSPC: the former one.
 * The name.tmp of an earlier attempt is removed, not written to: it may be a
 * link. */
static int write_own(struct posix_volume *v, const char *name,
		     struct bytes content)
{
	char tmp[POSIX_TMP_NAME_SIZE];
	char *path;
	int fd, err;

	posix_tmp_name(name, tmp);
	path = posix_path(v, tmp);
	if (!path)
		return -ENOMEM;
	unlinkat(v->directory, tmp, 0);
	fd = openat(v->directory, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0) {
		err = fail(errno, "%s: cannot create", path);
		goto free_path;
	}
	err = posix_write_all(fd, content, path);
	if (!err)
		err = posix_sync_file(fd, path);
	close(fd);
	if (!err)
		err = posix_publish(v, name, true);
	if (err < 0)
		posix_remove_tmp(v, name);
free_path:
	free(path);
	return err;
}

/* Appends the whole of a small file to out; -ENOENT. Its size is not asked for,
 * as a read tells where it ends. */
static int read_own(struct posix_volume *v, const char *name, struct buf *out)
{
	int fd = openat(v->directory, name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = 0;
	int err;

	if (fd < 0)
		return fail(errno, "%s/%s: cannot open", v->path, name);
	do {
		err = buf_reserve(out, 4096);
		if (err < 0)
			break;
		n = read(fd, out->data + out->size, out->capacity - out->size);
		if (n < 0 && errno != EINTR)
			err = fail(errno, "%s/%s: cannot read", v->path, name);
		if (n > 0)
			out->size += (size_t)n;
	} while (!err && n != 0);
	close(fd);
	return err;
}

int posix_root_parse(const char *path, struct bytes file, uint64_t *version,
		     struct bytes *content)
{
	size_t n = file.size - 4;
	uint32_t crc;

	if (file.size < ROOT_HEADER_SIZE + 4 ||
	    memcmp(file.data, ROOT_MAGIC, strlen(ROOT_MAGIC)) != 0)
		return fail(ERR_manifest_damaged, "%s: not a root", path);
	crc = crc32c(0, bytes_of(file.data, n));
	if (crc != get_u32le(file.data + n))
		return fail(ERR_manifest_damaged,
			    "%s: checksum is %08x, not %08x", path, crc,
			    get_u32le(file.data + n));
	*version = get_u64le(file.data + strlen(ROOT_MAGIC));
	*content = bytes_of(file.data + ROOT_HEADER_SIZE, n - ROOT_HEADER_SIZE);
	return 0;
}

/* Appends the root's file, which is whole, to file, and takes it apart. A
 * rename leaves whole the file that is open, but the second swap from then on
 * overwrites it: then there is another to be read. */
static int read_root(struct posix_volume *v, struct buf *file,
		     uint64_t *version, struct bytes *content)
{
	char *path = posix_path(v, POSIX_ROOT);
	int tries, err = path ? -ERR_manifest_damaged : -ENOMEM;

	for (tries = 0; tries < 3 && err == -ERR_manifest_damaged; tries++) {
		buf_reset(file);
		err = read_own(v, POSIX_ROOT, file);
		if (err == 0)
			err = posix_root_parse(path, buf_bytes(file), version,
					       content);
	}
	free(path);
	return err;
}

/* Who has the lease has the store, wherever it is moved. To others it is what
 * is at its path, if anything is: a store that came there in place of this one
 * is what they want to see. */
static bool is_replaced(const struct posix_volume *v)
{
	struct stat mine, there;

	return atomic_load(&v->lease) == LEASE_NEVER &&
	       fstat(v->directory, &mine) == 0 && stat(v->path, &there) == 0 &&
	       (mine.st_dev != there.st_dev || mine.st_ino != there.st_ino);
}

int posix_root_get(struct volume *volume, uint64_t *version, struct buf *out)
{
	struct posix_volume *v = posix(volume);
	struct buf file = BUF_INIT;
	struct bytes content;
	int err;

	if (is_replaced(v))
		return fail(ESTALE,
			    "%s: another directory is there by now; mount it "
			    "again",
			    v->path);
	err = read_root(v, &file, version, &content);
	if (err == 0)
		err = buf_set(out, content);
	buf_release(&file);
	return err;
}

/* Opens the root that is not in use, for being overwritten. What has another
 * name is somebody's, such as a copy's of the store that was made by links; it
 * and what is no file make way for a new one. A descriptor, or an error. */
static int open_spare_root(struct posix_volume *v)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int fd = openat(v->directory, POSIX_ROOT_SPARE, flags, 0600);

	if (fd >= 0 && posix_has_one_name(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	unlinkat(v->directory, POSIX_ROOT_SPARE, 0);
	fd = openat(v->directory, POSIX_ROOT_SPARE, flags | O_EXCL, 0600);
	return fd < 0 ? fail(errno,
			     "%s/" POSIX_ROOT_SPARE
			     ": cannot create; move away "
			     "what is there",
			     v->path)
		      : fd;
}

/* Overwrites the root that is not in use, durably. */
static int write_spare_root(struct posix_volume *v, struct bytes content)
{
	int fd = open_spare_root(v), err;

	if (fd < 0)
		return fd;
	err = posix_write_all(fd, content, v->path);
	if (!err && ftruncate(fd, (off_t)content.size) < 0)
		err = fail(errno, "%s/" POSIX_ROOT_SPARE ": cannot cut",
			   v->path);
	if (!err)
		err = posix_sync_file(fd, v->path);
	close(fd);
	return err;
}

/* Makes content the root. The first has no former one: that is made beside it,
 * for the next; where that fails, the next will need space. */
static int write_root(struct posix_volume *v, struct bytes content, bool first)
{
	int err;

	if (first) {
		err = write_own(v, POSIX_ROOT, content);
		if (err == 0 && write_spare_root(v, content) < 0)
			err_clear();
		return err;
	}
	err = write_spare_root(v, content);
	if (err < 0)
		return err;
	err = renameat2(v->directory, POSIX_ROOT_SPARE, v->directory,
			POSIX_ROOT, RENAME_EXCHANGE);
	/* A file system without that flag. */
	if (err < 0 && errno == EINVAL)
		err = renameat2(v->directory, POSIX_ROOT_SPARE, v->directory,
				POSIX_ROOT, 0);
	if (err < 0)
		return fail(errno,
			    "%s/" POSIX_ROOT_SPARE
			    ": cannot rename to " POSIX_ROOT,
			    v->path);
	err = posix_sync_directory(v);
	/* -ENOSPC would stand for nothing having changed. */
	return err == -ENOSPC ? -EIO : err;
}

/* The comparing and the swapping; the caller holds the lease or the lock on the
 * directory, so that no other process comes between them. */
static int swap(struct posix_volume *v, uint64_t expected, struct bytes content)
{
	struct buf file = BUF_INIT;
	uint64_t version = 0;
	int err = posix_root_get(&v->volume, &version, &file);

	if (err < 0 && err != -ENOENT)
		goto release;
	if (version != expected) {
		err = fail(ERR_volume_conflict,
			   "%s/" POSIX_ROOT ": version %llu, expected %llu",
			   v->path, (unsigned long long)version,
			   (unsigned long long)expected);
		goto release;
	}
	buf_reset(&file);
	err = buf_add_string(&file, ROOT_MAGIC);
	if (!err)
		err = buf_add_u64le(&file, expected + 1);
	if (!err)
		err = buf_add_bytes(&file, content);
	if (!err)
		err = buf_add_u32le(&file, crc32c(0, buf_bytes(&file)));
	if (!err)
		err = write_root(v, buf_bytes(&file), expected == 0);
release:
	buf_release(&file);
	return err;
}

/* Waits for the lock on the directory, which any process may hold that can
 * open it: not without an end. A descriptor of an open file of its own, so that
 * threads exclude one another too, whose closing unlocks; or an error. */
static int lock_directory(struct posix_volume *v)
{
	const struct timespec pause = { 0, 10000000 };
	int fd = openat(v->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int tries, err = EWOULDBLOCK;

	if (fd < 0)
		return fail(errno, "%s: cannot open", v->path);
	for (tries = 0; tries < LOCK_TRIES_MAX; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		err = errno;
		if (err != EWOULDBLOCK && err != EINTR)
			break;
		nanosleep(&pause, NULL);
	}
	close(fd);
	if (err != EWOULDBLOCK && err != EINTR)
		return fail(err, "%s: cannot lock", v->path);
	return fail(EBUSY,
		    "%s: another process has locked the directory itself with "
		    "flock; end it, and try again",
		    v->path);
}

/* Who has the lease is alone, and swaps in one thread at a time. */
int posix_root_swap(struct volume *volume, uint64_t expected,
		    struct bytes content)
{
	struct posix_volume *v = posix(volume);
	int fd, err = posix_guard(v);

	if (err < 0)
		return err;
	if (v->lock >= 0)
		return swap(v, expected, content);
	fd = lock_directory(v);
	if (fd < 0)
		return fd;
	err = swap(v, expected, content);
	close(fd);
	return err;
}

/* Fails on what a directory that is to become a store may not hold: anything,
 * but what an earlier attempt left, and what a new ext4 has in its root. */
static int foreign_entry(void *context, const char *name)
{
	struct posix_volume *v = context;

	if (strcmp(name, POSIX_MARKER POSIX_TMP) == 0 ||
	    strcmp(name, "lost+found") == 0)
		return 0;
	return fail(ERR_not_a_store, "%s: holds other files, such as %s",
		    v->path, name);
}

int posix_marker_parse(const char *directory, struct bytes text)
{
	const struct bytes start = BYTES_LITERAL(MARKER_START);
	struct bytes format;

	if (bytes_equal(text, BYTES_LITERAL(MARKER_TEXT)))
		return 0;
	format = bytes_starts_with(text, start) ? bytes_after(text, start.size)
						: BYTES_NONE;
	return format.size > 1 && format.data[0] >= '1' && format.data[0] <= '9'
		       ? fail(ERR_format_newer,
			      "%s/" POSIX_MARKER ": not a format that is known "
			      "here",
			      directory)
		       : fail(ERR_not_a_store,
			      "%s/" POSIX_MARKER ": is not that of a store",
			      directory);
}

/* posix_check_marker without create, but -ENOENT if there is no marker. */
static int read_marker(struct posix_volume *v)
{
	struct buf text = BUF_INIT;
	int err = read_own(v, POSIX_MARKER, &text);

	if (!err)
		err = posix_marker_parse(v->path, buf_bytes(&text));
	/* As a home has that holds this program's source. */
	if (err == -EISDIR)
		err = fail(ERR_not_a_store,
			   "%s: " POSIX_MARKER " is a directory in it",
			   v->path);
	buf_release(&text);
	return err;
}

/* Whether a directory has the marker of a volume. A program or a source tree
 * may have that name too, so what it says counts. */
static bool is_volume(int directory)
{
	char text[sizeof(MARKER_NAME) - 1];
	int fd = openat(directory, POSIX_MARKER,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool is;

	if (fd < 0)
		return false;
	is = read(fd, text, sizeof(text)) == (ssize_t)sizeof(text) &&
	     memcmp(text, MARKER_NAME, sizeof(text)) == 0;
	close(fd);
	return is;
}

/* That no directory above fd is a volume, whose files a second one within it
 * would be lost with, and would spoil the looks of. */
static int check_above(const struct posix_volume *v, int fd)
{
	struct stat above, below;
	int err = fstat(fd, &below) < 0 ? -errno : 0, up = -1;

	while (!err) {
		int next = openat(up < 0 ? fd : up, "..",
				  O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (next < 0 || fstat(next, &above) < 0)
			err = -errno;
		if (up >= 0)
			close(up);
		up = next;
		/* The root is above itself. */
		if (err || (above.st_dev == below.st_dev &&
			    above.st_ino == below.st_ino))
			break;
		if (is_volume(up))
			err = fail(ERR_not_a_store,
				   "%s: lies within another store", v->path);
		below = above;
	}
	if (up >= 0)
		close(up);
	/* What may not be looked at is no store of this user. */
	return err == -EACCES ? 0 : err;
}

/* Makes the marker, if no other process has made it; one at a time, for all
 * write to the same name first. */
static int make_marker(struct posix_volume *v)
{
	int fd = lock_directory(v), err;

	if (fd < 0)
		return fd;
	err = read_marker(v);
	if (err == -ENOENT) {
		err = check_above(v, v->directory);
		if (!err)
			err = posix_each_entry(v, foreign_entry, v);
		if (!err)
			err = write_own(v, POSIX_MARKER,
					BYTES_LITERAL(MARKER_TEXT));
	}
	close(fd);
	return err;
}

static bool has_root(struct posix_volume *v)
{
	struct buf file = BUF_INIT;
	struct bytes content;
	uint64_t version;
	bool has = read_root(v, &file, &version, &content) == 0;

	buf_release(&file);
	return has;
}

int posix_check_marker(struct posix_volume *v, bool create)
{
	int err = read_marker(v);

	if ((err == -ENOENT || err == -ERR_not_a_store) && has_root(v))
		return fail(ERR_manifest_damaged,
			    "%s/" POSIX_MARKER ": is missing or damaged, which "
			    "tabletfs repair mends, as there is a root",
			    v->path);
	/* Once more for what it says, which the look at the root took away. */
	if (err == -ERR_not_a_store)
		return read_marker(v);
	if (err != -ENOENT)
		return err;
	return create ? make_marker(v)
		      : fail(ERR_not_a_store,
			     "%s: there is no file " POSIX_MARKER, v->path);
}

int volume_posix_marked(const char *directory, struct volume_mark *out)
{
	struct stat st;

	if (stat(directory, &st) < 0)
		return fail(errno, "%s", directory);
	*out = (struct volume_mark){ st.st_dev, st.st_ino };
	return 0;
}

int posix_check_owner(const struct posix_volume *v)
{
	struct stat st;

	if (fstat(v->directory, &st) < 0)
		return fail(errno, "%s", v->path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return fail(EPERM,
			    "%s: belongs to user %u, who could change it under "
			    "the hands of user %u; work as its owner, or "
			    "change that",
			    v->path, (unsigned int)st.st_uid,
			    (unsigned int)geteuid());
	/* In a sticky one, such as a tmpfs' root, they can make names, which
	 * are looked at as they are met, but not take others'. */
	if (st.st_mode & S_IWOTH && !(st.st_mode & S_ISVTX))
		return fail(EPERM,
			    "%s: may be written to by all, who could change it "
			    "under the hands of user %u; chmod o-w it, or use "
			    "a directory in it",
			    v->path, (unsigned int)geteuid());
	return 0;
}

/* The directory is durable when the one that holds it is synced: that is "..",
 * whatever links the path goes through. If that fails, it is gone again, so
 * that who tries once more syncs as well. */
int posix_make_directory(struct posix_volume *v)
{
	int fd, parent = -1, err;

	if (mkdir(v->path, 0700) < 0)
		return errno == EEXIST
			       ? 0
			       : fail(errno, "%s: cannot create", v->path);
	fd = open(v->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0)
		parent = openat(fd, "..", O_RDONLY | O_CLOEXEC);
	if (parent < 0)
		err = fail(errno, "%s: cannot open", v->path);
	else
		err = check_above(v, fd);
	if (!err)
		err = posix_sync_file(parent, v->path);
	if (parent >= 0)
		close(parent);
	if (fd >= 0)
		close(fd);
	if (err)
		rmdir(v->path);
	return err < 0 ? err : 1;
}

int volume_posix_free_name(const char *path)
{
	struct stat st;

	if (!*path)
		return fail(ENOENT, "an empty name");
	if (lstat(path, &st) == 0)
		return fail(EEXIST, "%s: is there already", path);
	return errno == ENOENT ? 0 : fail(errno, "%s: cannot look", path);
}

int volume_posix_temporary(struct buf *out)
{
	const char *base = getenv("TMPDIR");
	int err = buf_printf(out, "%s/tabletfs-XXXXXX",
			     base && *base ? base : "/var/tmp");

	if (err == 0)
		err = buf_terminate(out);
	if (err == 0 && !mkdtemp((char *)out->data))
		err = fail(errno, "%s: cannot create", (char *)out->data);
	return err;
}

int volume_posix_rename(const char *from, const char *to)
{
	int fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC), parent, err;

	if (fd < 0)
		return fail(errno, "%s: cannot open", from);
	err = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
	/* A file system without that flag: of those who make the name one has
	 * it, and what others put into it meanwhile is not replaced. */
	if (err < 0 && errno == EINVAL && mkdir(to, 0700) == 0) {
		err = rename(from, to);
		if (err < 0) {
			int code = errno;

			rmdir(to);
			errno = code;
		}
	}
	if (err < 0)
		err = fail(errno, "%s: cannot rename to %s", from, to);
	/* Asked for after the renaming: where the directory lies now. */
	parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(fd);
	if (err == 0 && parent < 0)
		err = fail(errno, "%s: cannot open what holds it", to);
	if (err == 0)
		err = posix_sync_file(parent, to);
	if (parent >= 0)
		close(parent);
	return err;
}

void volume_posix_clear(const char *directory)
{
	int fd = open(directory,
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!d && fd >= 0)
		close(fd);
	if (!d)
		return;
	/* What cannot be removed, . and .. among them, is passed over; then
	 * rmdir fails as well. */
	while ((entry = readdir(d)))
		unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
}

void volume_posix_discard(const char *directory)
{
	volume_posix_clear(directory);
	rmdir(directory);
}
