#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/buf.h"
#include "tests/sim/disk.h"

#define FDS_MAX 1024
#define NAME_SIZE 80

struct inode {
	struct buf data;
	size_t synced;
	struct inode *next;
};

/* A name and what it leads to; as a change, NULL removes the name, and from is
 * removed by the same stroke. */
struct entry {
	char name[NAME_SIZE], from[NAME_SIZE];
	struct inode *inode;
};

struct entries {
	struct entry *items;
	size_t count, capacity;
};

static struct {
	char directory[200];
	bool on;
	struct inode *inodes;
	struct inode *by_fd[FDS_MAX];
	bool is_directory[FDS_MAX];
	size_t open_count;
	struct entries now, durable, changes; /* those after durable */
	void (*hook)(void *context);
	void *hook_context;

	uint64_t calls, fail_at; /* 0: never */
	enum disk_fault fault;
	int error;
	bool forever, failed;
} disk;

static void entries_add(struct entries *e, const struct entry *entry)
{
	if (e->count == e->capacity) {
		e->capacity = e->capacity * 2 + 64;
		e->items = realloc(e->items, e->capacity * sizeof(*e->items));
		if (!e->items)
			abort();
	}
	e->items[e->count++] = *entry;
}

static struct entry *entries_find(struct entries *e, const char *name)
{
	size_t i;

	for (i = 0; i < e->count; i++)
		if (strcmp(e->items[i].name, name) == 0)
			return &e->items[i];
	return NULL;
}

static void entries_remove(struct entries *e, const char *name)
{
	struct entry *found = entries_find(e, name);

	if (found)
		*found = e->items[--e->count];
}

static void entries_change(struct entries *e, const struct entry *change)
{
	entries_remove(e, change->from);
	entries_remove(e, change->name);
	if (change->inode)
		entries_add(e, change);
}

static void entries_copy(struct entries *to, const struct entries *from)
{
	size_t i;

	to->count = 0;
	for (i = 0; i < from->count; i++)
		entries_add(to, &from->items[i]);
}

static void call_hook(void)
{
	if (!disk.on || !disk.hook)
		return;
	disk.on = false;
	disk.hook(disk.hook_context);
	disk.on = true;
}

/* A change to the directory, which has been made. */
static void change(const char *name, const char *from, struct inode *inode)
{
	struct entry c = { .inode = inode };

	snprintf(c.name, sizeof(c.name), "%s", name);
	snprintf(c.from, sizeof(c.from), "%s", from);
	entries_change(&disk.now, &c);
	entries_add(&disk.changes, &c);
	call_hook();
}

/* Whether the fault strikes this call. */
static bool strikes(bool can)
{
	if (!disk.on || !can || !disk.fail_at)
		return false;
	disk.calls++;
	if (disk.calls < disk.fail_at ||
	    (disk.calls > disk.fail_at && !disk.forever))
		return false;
	disk.failed = true;
	return true;
}

/* Of calls that neither read nor write: only errors. */
static bool fails(void)
{
	if (!strikes(disk.fault == DISK_ERROR))
		return false;
	errno = disk.error;
	return true;
}

/* Of calls that wait for the disk; changes how much they do. */
static bool fails_waiting(size_t *size)
{
	bool data = size && *size > 1;

	if (!strikes(disk.fault != DISK_SHORT || data))
		return false;
	if (disk.fault == DISK_SHORT) {
		*size /= 2;
		return false;
	}
	errno = disk.fault == DISK_ERROR ? disk.error : EINTR;
	return true;
}

int __real_open64(const char *path, int flags, ...);
int __real_openat64(int at, const char *path, int flags, ...);
int __real_close(int fd);
int __real_closedir(DIR *d);
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __real_pread64(int fd, void *data, size_t size, off_t offset);
ssize_t __real_pwrite64(int fd, const void *data, size_t size, off_t offset);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_ftruncate64(int fd, off_t size);
int __real_renameat2(int from_at, const char *from, int at, const char *name,
		     unsigned int flags);
int __real_linkat(int from_at, const char *from, int at, const char *name,
		  int flags);
int __real_unlinkat(int at, const char *name, int flags);

int __wrap_open64(const char *path, int flags, ...);
int __wrap_openat64(int at, const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_closedir(DIR *d);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __wrap_pread64(int fd, void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off_t offset);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_ftruncate64(int fd, off_t size);
int __wrap_renameat2(int from_at, const char *from, int at, const char *name,
		     unsigned int flags);
int __wrap_linkat(int from_at, const char *from, int at, const char *name,
		  int flags);
int __wrap_unlinkat(int at, const char *name, int flags);

static int opened(int fd, struct inode *inode, bool is_directory)
{
	if (!disk.on || fd < 0)
		return fd;
	if (fd >= FDS_MAX)
		abort();
	disk.by_fd[fd] = inode;
	disk.is_directory[fd] = is_directory;
	disk.open_count++;
	return fd;
}

int __wrap_open64(const char *path, int flags, ...)
{
	int fd;

	if (fails())
		return -1;
	fd = __real_open64(path, flags, 0600);
	return opened(fd, NULL, strcmp(path, disk.directory) == 0);
}

int __wrap_openat64(int at, const char *path, int flags, ...)
{
	struct entry *entry = entries_find(&disk.now, path);
	struct inode *inode = entry ? entry->inode : NULL;
	int fd;

	if (fails())
		return -1;
	if (disk.on && (flags & O_CREAT))
		call_hook();
	fd = __real_openat64(at, path, flags, 0600);
	if (!disk.on || fd < 0)
		return fd;
	if ((flags & O_CREAT) && (!inode || (flags & O_TRUNC))) {
		inode = calloc(1, sizeof(*inode));
		if (!inode)
			abort();
		inode->next = disk.inodes;
		disk.inodes = inode;
		change(path, "", inode);
	}
	return opened(fd, inode, strcmp(path, ".") == 0);
}

int __wrap_close(int fd)
{
	if (disk.on)
		disk.open_count--;
	return __real_close(fd);
}

int __wrap_closedir(DIR *d)
{
	if (disk.on)
		disk.open_count--;
	return __real_closedir(d);
}

/* What was written at offset. What had been synced there is so no more. */
static void written(int fd, const void *data, ssize_t size, off_t offset)
{
	struct inode *inode = disk.by_fd[fd];
	size_t at = (size_t)offset, n;

	if (!disk.on || !inode || size <= 0 || offset < 0)
		return;
	if (at > inode->data.size)
		abort();
	n = inode->data.size - at;
	n = n < (size_t)size ? n : (size_t)size;
	if (n > 0)
		memcpy(inode->data.data + at, data, n);
	if (buf_add(&inode->data, (const char *)data + n, (size_t)size - n) < 0)
		abort();
	if (inode->synced > at)
		inode->synced = at;
	call_hook();
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	ssize_t n;

	if (fails_waiting(&size))
		return -1;
	n = __real_write(fd, data, size);
	written(fd, data, n, lseek(fd, 0, SEEK_CUR) - n);
	return n;
}

ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off_t offset)
{
	if (fails())
		return -1;
	return __real_pwrite64(fd, data, size, offset);
}

ssize_t __wrap_read(int fd, void *data, size_t size)
{
	return fails_waiting(&size) ? -1 : __real_read(fd, data, size);
}

ssize_t __wrap_pread64(int fd, void *data, size_t size, off_t offset)
{
	return fails_waiting(&size) ? -1
				    : __real_pread64(fd, data, size, offset);
}

/* Nothing needs to be on a real disk. */
static int synced(int fd)
{
	struct inode *inode = disk.by_fd[fd];

	if (fails_waiting(NULL))
		return -1;
	if (!disk.on)
		return 0;
	call_hook();
	if (disk.is_directory[fd]) {
		entries_copy(&disk.durable, &disk.now);
		disk.changes.count = 0;
	} else if (inode) {
		inode->synced = inode->data.size;
	}
	call_hook();
	return 0;
}

int __wrap_fsync(int fd)
{
	return synced(fd);
}

int __wrap_fdatasync(int fd)
{
	return synced(fd);
}

int __wrap_ftruncate64(int fd, off_t size)
{
	struct inode *inode = disk.by_fd[fd];

	if (fails())
		return -1;
	if (disk.on && inode && (size_t)size < inode->data.size) {
		inode->data.size = (size_t)size;
		if (inode->synced > inode->data.size)
			inode->synced = inode->data.size;
	}
	return __real_ftruncate64(fd, size);
}

/* What this name leads to; NULL of one that was there before, or elsewhere. */
static struct inode *find_inode(const char *name)
{
	struct entry *entry = entries_find(&disk.now, name);

	return entry ? entry->inode : NULL;
}

int __wrap_renameat2(int from_at, const char *from, int at, const char *name,
		     unsigned int flags)
{
	struct inode *inode = find_inode(from);
	struct inode *other = NULL;
	int err;

	if (fails())
		return -1;
	call_hook();
	if (disk.on && (flags & RENAME_EXCHANGE))
		other = find_inode(name);
	err = __real_renameat2(from_at, from, at, name, flags);
	if (!disk.on || err < 0)
		return err;
	if (flags & RENAME_EXCHANGE) {
		/* By two changes: that is no less than what may be left. */
		change(name, "", inode);
		change(from, "", other);
	} else {
		change(name, from, inode);
	}
	return err;
}

int __wrap_linkat(int from_at, const char *from, int at, const char *name,
		  int flags)
{
	struct inode *inode = find_inode(from);
	int err;

	if (fails())
		return -1;
	call_hook();
	err = __real_linkat(from_at, from, at, name, flags);
	if (disk.on && err == 0)
		change(name, "", inode);
	return err;
}

int __wrap_unlinkat(int at, const char *name, int flags)
{
	int err;

	if (fails())
		return -1;
	call_hook();
	err = __real_unlinkat(at, name, flags);
	if (disk.on && err == 0)
		change(name, "", NULL);
	return err;
}

void disk_watch(const char *directory)
{
	disk_reset();
	snprintf(disk.directory, sizeof(disk.directory), "%s", directory);
	disk.on = true;
}

void disk_reset(void)
{
	struct inode *inode;

	while ((inode = disk.inodes)) {
		disk.inodes = inode->next;
		buf_release(&inode->data);
		free(inode);
	}
	free(disk.now.items);
	free(disk.durable.items);
	free(disk.changes.items);
	memset(&disk, 0, sizeof(disk));
}

size_t disk_open_count(void)
{
	return disk.open_count;
}

void disk_fail(uint64_t n, enum disk_fault fault, int error, bool forever)
{
	disk.calls = 0;
	disk.fail_at = n;
	disk.fault = fault;
	disk.error = error;
	disk.forever = forever;
	disk.failed = disk.failed && n == 0;
}

bool disk_failed(void)
{
	return disk.failed;
}

void disk_hook(void (*hook)(void *context), void *context)
{
	disk.hook = hook;
	disk.hook_context = context;
}

/* Some of what was not synced, or zeros in its place. */
static void write_file(struct rng *rng, const struct entry *entry,
		       const char *directory)
{
	const struct inode *inode = entry->inode;
	size_t tail = inode->data.size - inode->synced, kept = 0, zeros = 0;
	char path[400];
	FILE *f;

	switch (rng_below(rng, 4)) {
	case 0:
		kept = tail;
		break;
	case 1:
		kept = rng_below(rng, (uint32_t)tail + 1);
		break;
	case 2:
		kept = rng_below(rng, (uint32_t)tail + 1);
		zeros = tail - kept;
		break;
	}
	snprintf(path, sizeof(path), "%s/%s", directory, entry->name);
	f = fopen(path, "w");
	if (!f)
		abort();
	if (inode->synced + kept > 0)
		fwrite(inode->data.data, inode->synced + kept, 1, f);
	while (zeros-- > 0)
		putc(0, f);
	if (fclose(f) != 0)
		abort();
}

void disk_crash(struct rng *rng, const char *directory)
{
	struct entries left = { 0 };
	bool ordered = rng_one_in(rng, 2);
	size_t count = disk.changes.count, i;

	entries_copy(&left, &disk.durable);
	if (ordered)
		count = rng_below(rng, (uint32_t)count + 1);
	for (i = 0; i < count; i++)
		if (ordered || rng_one_in(rng, 2))
			entries_change(&left, &disk.changes.items[i]);
	for (i = 0; i < left.count; i++)
		write_file(rng, &left.items[i], directory);
	free(left.items);
}
