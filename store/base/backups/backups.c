#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/backups/backups.h"
#include "store/base/clock.h"
#include "store/base/err.h"
#include "store/base/volume/posix_volume.h"
#include "store/base/volume/volume_posix_file.h"
#include "store/base/volume/volume_posix_own.h"

#define MARKER "backups"
#define MARKER_TEXT "TabletFS backups, format 1\n"
#define LOCK "lock"
#define LATEST "latest"
#define PARTIAL ".partial"
#define TMP ".tmp"
#define HOLDER_MAX 200

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

/* Without what some file systems do not take in a name. */
void backups_moment(uint64_t us, char moment[BACKUPS_MOMENT_SIZE])
{
	char text[CLOCK_TEXT_SIZE];
	size_t i, n = 0;

	clock_print(us, text, sizeof(text));
	for (i = 0; text[i] && n < BACKUPS_MOMENT_SIZE - 1; i++)
		if (text[i] != '-' && text[i] != ':')
			moment[n++] = text[i];
	moment[n] = 0;
}

static bool is_moment(const char *name, size_t size)
{
	static const char shape[BACKUPS_MOMENT_SIZE] = "dddddddd"
						       "Tdddddd.dddddd"
						       "Z";
	size_t i;

	if (size != BACKUPS_MOMENT_SIZE - 1)
		return false;
	for (i = 0; i < size; i++)
		if (shape[i] == 'd' ? name[i] < '0' || name[i] > '9'
				    : name[i] != shape[i])
			return false;
	return true;
}

int backups_read_file(int at, const char *directory, const char *name,
		      size_t max, struct buf *out)
{
	int fd = openat(at, name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = 1;
	int err = 0;

	if (fd < 0)
		return fail(errno, "%s/%s: cannot open", directory, name);
	while (!err && n > 0) {
		err = buf_reserve(out, 65536);
		if (err < 0)
			break;
		do {
			n = read(fd, out->data + out->size, 65536);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			err = fail(errno, "%s/%s: cannot read", directory,
				   name);
		else
			out->size += (size_t)n;
		if (!err && out->size > max)
			err = fail(EFBIG,
				   "%s/%s: has more than %zu bytes, so it is "
				   "not what was written there",
				   directory, name, max);
	}
	close(fd);
	return err;
}

/* Writes it under its temporary name in the directory at. */
static int write_tmp(int at, const char *tmp, struct bytes content)
{
	int fd, err;

	unlinkat(at, tmp, 0);
	fd = openat(at, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(errno, "%s: cannot create", tmp);
	err = posix_write_all(fd, content, tmp);
	if (!err)
		err = posix_sync_file(fd, tmp);
	close(fd);
	return err;
}

int backups_write_file(int at, const char *directory, const char *name,
		       struct bytes content)
{
	char tmp[NAME_MAX + 1];
	int err;

	snprintf(tmp, sizeof(tmp), "%s" TMP, name);
	err = write_tmp(at, tmp, content);
	if (!err && renameat(at, tmp, at, name) < 0)
		err = fail(errno, "%s/%s: cannot rename", directory, tmp);
	if (!err)
		err = posix_sync_file(at, directory);
	if (err < 0)
		unlinkat(at, tmp, 0);
	return err;
}

/* Calls each with every entry but . and .., until that fails. */
static int each_entry(int of, const char *directory,
		      int (*each)(void *context, int at, const char *name),
		      void *context)
{
	int fd = openat(of, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!d) {
		err = fail(errno, "%s: cannot list", directory);
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			err = each(context, dirfd(d), entry->d_name);
	closedir(d);
	return err;
}

static int count_name(void *context, int at, const char *name)
{
	size_t *count = context;

	(void)at;
	(void)name;
	++*count;
	return 0;
}

int backups_count_names(int at, const char *directory, size_t *count)
{
	*count = 0;
	return each_entry(at, directory, count_name, count);
}

/* Only a directory is a backup: a link may lead anywhere. */
static int add_moment(void *context, int at, const char *name)
{
	struct backups *b = context;
	struct stat st;

	if (!is_moment(name, strlen(name)) ||
	    fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode))
		return 0;
	if (b->count == b->room) {
		size_t room = b->room ? 2 * b->room : 64;
		void *grown =
			reallocarray(b->moments, room, sizeof(*b->moments));

		if (!grown)
			return -ENOMEM;
		b->moments = grown;
		b->room = room;
	}
	memcpy(b->moments[b->count++], name, BACKUPS_MOMENT_SIZE);
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int list(struct backups *b)
{
	int err;

	b->count = 0;
	err = each_entry(b->directory, b->path, add_moment, b);
	if (b->count > 0)
		qsort(b->moments, b->count, sizeof(*b->moments), compare);
	return err;
}

/* Whether a backup that is not whole has this name. */
static bool is_partial(const char *name)
{
	return ends_with(name, PARTIAL) &&
	       is_moment(name, strlen(name) - strlen(PARTIAL));
}

/* Fails on what a directory that is to hold backups may not have: anything, but
 * what a first backup has before it makes the marker, and what a new ext4 has
 * in its root. */
static int foreign_entry(void *context, int at, const char *name)
{
	const struct backups *b = context;

	(void)at;
	if (!strcmp(name, LOCK) || !strcmp(name, MARKER TMP) ||
	    !strcmp(name, "lost+found") || is_partial(name))
		return 0;
	return fail(ERR_not_backups,
		    "%s: holds other files, such as %s; backups need a "
		    "directory of their own",
		    b->path, name);
}

/* Which store the marker names; -ENOENT without one. */
static int read_marker(struct backups *b)
{
	size_t head = strlen(MARKER_TEXT), size;
	struct buf text = BUF_INIT;
	int err = backups_read_file(b->directory, b->path, MARKER,
				    head + BACKUPS_STORE_MAX + 1, &text);

	if (err == -EFBIG)
		err = 0;
	if (err)
		goto release;
	size = text.size > head + 1 ? text.size - head - 1 : 0;
	if (size == 0 || size > BACKUPS_STORE_MAX ||
	    memcmp(text.data, MARKER_TEXT, head) != 0)
		err = fail(ERR_not_backups,
			   "%s/" MARKER ": not a format that is known here",
			   b->path);
	else
		memcpy(b->store, text.data + head, size);
release:
	buf_release(&text);
	return err;
}

/* That it is one of backups, or with create may become one, or has become one
 * while it was looked at. */
static int check(struct backups *b, bool create)
{
	int err = read_marker(b), foreign;

	if (err != -ENOENT)
		return err;
	if (faccessat(b->directory, POSIX_MARKER, F_OK, 0) == 0)
		return fail(ERR_not_backups,
			    "%s: is a store, as a backup by a former release "
			    "is; backups go to a directory of their own",
			    b->path);
	if (!create)
		return fail(ERR_not_backups, "%s: holds no backups", b->path);
	foreign = each_entry(b->directory, b->path, foreign_entry, b);
	return !foreign || faccessat(b->directory, MARKER, F_OK, 0) < 0
		       ? foreign
		       : read_marker(b);
}

static int open_lock(struct backups *b)
{
	b->lock = openat(b->directory, LOCK,
			 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return b->lock < 0 ? -errno : 0;
}

/* The volume's rules of who owns a directory, and where one may lie, are those
 * of this one. */
static int open_directory(struct backups *b, bool create)
{
	struct posix_volume v = { .path = b->path };
	int made = create ? posix_make_directory(&v) : 0, err;

	if (made < 0)
		return made;
	b->directory = open(b->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->directory < 0)
		return fail(errno, "%s: cannot open", b->path);
	v.directory = b->directory;
	err = posix_check_owner(&v);
	if (err < 0 || !made)
		return err;
	/* In a mount it would be a table. */
	err = open_lock(b);
	if (!err)
		return 0;
	rmdir(b->path);
	return fail(-err,
		    "%s: no file may be made there; name a directory that is "
		    "not in a mount",
		    b->path);
}

int backups_open(const char *path, bool create, struct backups **out)
{
	struct backups *b = calloc(1, sizeof(*b));
	int err = -ENOMEM;

	*out = NULL;
	if (!b)
		return -ENOMEM;
	b->directory = b->lock = -1;
	b->path = strdup(path);
	if (b->path)
		err = *path ? open_directory(b, create)
			    : fail(ENOENT, "an empty name");
	if (!err)
		err = check(b, create);
	if (!err)
		err = list(b);
	if (err)
		backups_close(b);
	else
		*out = b;
	return err;
}

void backups_close(struct backups *b)
{
	if (!b)
		return;
	if (b->lock >= 0)
		close(b->lock);
	if (b->directory >= 0)
		close(b->directory);
	free(b->moments);
	free(b->path);
	free(b);
}

bool backups_hold(int at)
{
	struct stat st;

	return fstatat(at, "../" MARKER, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

/* Removes a backup that is not whole. */
static int sweep(void *context, int at, const char *name)
{
	struct backups *b = context;
	struct buf path = BUF_INIT;
	int err = 0;

	if (is_partial(name)) {
		err = buf_printf(&path, "%s/%s", b->path, name);
		if (!err)
			err = buf_terminate(&path);
		if (!err)
			volume_posix_discard((const char *)path.data);
		buf_release(&path);
	} else if (ends_with(name, TMP)) {
		unlinkat(at, name, 0);
	}
	return err;
}

/* The line is for people: a full disk that does not take it keeps nobody. */
static void write_holder(int fd, const char *holder)
{
	char line[HOLDER_MAX];
	int n = snprintf(line, sizeof(line), "%s\n", holder);

	if (n < (int)sizeof(line) && pwrite(fd, line, (size_t)n, 0) == n)
		(void)!ftruncate(fd, n);
}

static int in_use(const struct backups *b)
{
	char line[HOLDER_MAX + 1];
	ssize_t n = pread(b->lock, line, HOLDER_MAX, 0);

	line[n > 0 ? n : 0] = 0;
	line[strcspn(line, "\n")] = 0;
	return fail(EBUSY, "%s: in use by %s", b->path,
		    line[0] ? line : "another process");
}

int backups_lock(struct backups *b, const char *holder)
{
	int err = b->lock < 0 ? open_lock(b) : 0;

	if (err)
		return fail(-err, "%s/" LOCK ": cannot open", b->path);
	if (flock(b->lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? in_use(b)
			       : fail(errno, "%s/" LOCK ": cannot lock",
				      b->path);
	write_holder(b->lock, holder);
	/* Another may have made it one of another store by now. */
	err = check(b, true);
	if (!err)
		err = each_entry(b->directory, b->path, sweep, b);
	return err ? err : list(b);
}

int backups_claim(struct backups *b, const char *store)
{
	struct buf text = BUF_INIT;
	int err;

	assert(b->lock >= 0 && strlen(store) <= BACKUPS_STORE_MAX);
	err = buf_printf(&text, MARKER_TEXT "%s\n", store);
	if (!err)
		err = backups_write_file(b->directory, b->path, MARKER,
					 buf_bytes(&text));
	if (!err)
		strcpy(b->store, store);
	buf_release(&text);
	return err;
}

int backups_path(const struct backups *b, const char *moment, bool partial,
		 struct buf *out)
{
	int err = buf_printf(out, "%s/%s%s", b->path, moment,
			     partial ? PARTIAL : "");

	return err ? err : buf_terminate(out);
}

int backups_open_one(const struct backups *b, const char *moment, bool partial)
{
	char name[BACKUPS_MOMENT_SIZE + sizeof(PARTIAL)];
	int fd;

	snprintf(name, sizeof(name), "%s%s", moment, partial ? PARTIAL : "");
	fd = openat(b->directory, name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? fail(errno, "%s/%s: cannot open", b->path, name) : fd;
}

int backups_open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? fail(errno, "%s: cannot open", path) : fd;
}

/* A rename from or to the partial name. */
static int rename_to(struct backups *b, const char *moment, bool partial)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int err = backups_path(b, moment, !partial, &from);

	if (!err)
		err = backups_path(b, moment, partial, &to);
	if (!err)
		err = volume_posix_rename((const char *)from.data,
					  (const char *)to.data);
	buf_release(&from);
	buf_release(&to);
	return err;
}

/* Where links cannot be made there is none. False if something has its name. */
static bool point_latest(struct backups *b, const char *moment)
{
	unlinkat(b->directory, LATEST TMP, 0);
	if (symlinkat(moment, b->directory, LATEST TMP) < 0 ||
	    renameat(b->directory, LATEST TMP, b->directory, LATEST) == 0)
		return true;
	unlinkat(b->directory, LATEST TMP, 0);
	return false;
}

int backups_publish(struct backups *b, const char *moment,
		    bool *is_latest_taken)
{
	int err = rename_to(b, moment, false);

	if (err)
		return err;
	*is_latest_taken = !point_latest(b, moment);
	return list(b);
}

int backups_remove(struct backups *b, const char *moment)
{
	struct buf path = BUF_INIT;
	int err = rename_to(b, moment, true);

	if (!err)
		err = backups_path(b, moment, true, &path);
	if (!err)
		volume_posix_discard((const char *)path.data);
	buf_release(&path);
	return err ? err : list(b);
}

struct sizes {
	uint64_t size, own;
};

static int add_size(void *context, int at, const char *name)
{
	struct sizes *s = context;
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	s->size += (uint64_t)st.st_size;
	s->own += st.st_nlink == 1 ? (uint64_t)st.st_size : 0;
	return 0;
}

int backups_size(const struct backups *b, const char *moment, uint64_t *size,
		 uint64_t *own)
{
	struct sizes sizes = { 0, 0 };
	int at = backups_open_one(b, moment, false), err = at;

	if (at >= 0) {
		err = each_entry(at, moment, add_size, &sizes);
		close(at);
	}
	*size = sizes.size;
	*own = sizes.own;
	return err;
}
