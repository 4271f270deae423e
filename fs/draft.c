#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fs/draft.h"

static struct draft *make_draft(struct fs *fs, struct node *node)
{
	struct draft *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	pthread_mutex_init(&d->lock, NULL);
	d->fd = -1;
	d->node = node;
	node->references++;
	node->draft = d;
	d->base_us = node->timestamp_us;
	d->next = fs->drafts;
	if (d->next)
		d->next->previous = d;
	fs->drafts = d;
	return d;
}

/* Of a draft that nobody finds any more. */
static void free_draft(struct draft *d)
{
	buf_release(&d->memory);
	buf_release(&d->data);
	if (d->fd >= 0)
		close(d->fd);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

struct draft *draft_get(struct fs *fs, struct node *node)
{
	struct draft *d;

	pthread_mutex_lock(&fs->nodes.lock);
	d = node->draft;
	if (d)
		d->references++;
	pthread_mutex_unlock(&fs->nodes.lock);
	return d;
}

void draft_put(struct fs *fs, struct draft *d)
{
	struct node *node = d->node;
	bool last;

	pthread_mutex_lock(&fs->nodes.lock);
	last = --d->references == 0;
	if (last) {
		node->draft = NULL;
		if (d->previous)
			d->previous->next = d->next;
		else
			fs->drafts = d->next;
		if (d->next)
			d->next->previous = d->previous;
	}
	pthread_mutex_unlock(&fs->nodes.lock);
	if (last) {
		free_draft(d);
		node_put(&fs->nodes, node);
	}
}

void drafts_release(struct fs *fs)
{
	struct draft *d, *next;

	for (d = fs->drafts; d; d = next) {
		next = d->next;
		free_draft(d);
	}
	fs->drafts = NULL;
}

int fs_commit_all(struct fs *fs, bool sync)
{
	struct draft *d, *next;
	int err = 0, failed;

	pthread_mutex_lock(&fs->nodes.lock);
	d = fs->drafts;
	if (d)
		d->references++;
	pthread_mutex_unlock(&fs->nodes.lock);
	while (d) {
		failed = draft_flush(fs, d, false);
		if (failed) {
			fs_log_error(fs, d->node, NULL, failed);
			err = err ? err : failed;
		}
		pthread_mutex_lock(&fs->nodes.lock);
		next = d->next;
		if (next)
			next->references++;
		pthread_mutex_unlock(&fs->nodes.lock);
		draft_put(fs, d);
		d = next;
	}
	if (sync) {
		failed = store_sync(fs->store);
		err = err ? err : failed;
	}
	return err;
}

static int load(struct fs *fs, struct draft *d)
{
	struct path path;
	struct cell cell;
	int err;

	if (d->loaded)
		return 0;
	err = node_path(&fs->nodes, d->node, &path);
	if (err)
		return err;
	err = store_get(fs->store, NULL, path.table, path.row, path.family,
			path.qualifier, &cell, &d->memory);
	path_release(&path);
	if (err < 0)
		return err;
	if (err == 0)
		return -ENOENT;
	d->value = cell.value;
	d->size = cell.value.size;
	d->base_us = cell.timestamp_us;
	d->loaded = true;
	return 0;
}

/* The time of a change that happens now: newer than what it replaces. */
static void touch(struct draft *d)
{
	uint64_t now = fs_now();

	if (now <= d->base_us)
		now = d->base_us + 1;
	if (d->millis)
		now = now / 1000 * 1000;
	if (now <= d->base_us)
		now += d->millis ? 1000 : 1;
	d->modified_us = now;
	d->has_pending = false;
	d->dirty = true;
}

static void empty(struct draft *d)
{
	buf_release(&d->memory);
	buf_reset(&d->data);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	d->value = BYTES_NONE;
	d->size = 0;
	d->owned = true;
	d->loaded = true;
}

static int start(struct fs *fs, struct draft *d, enum draft_mode mode)
{
	struct cell_rules rules;
	struct path path;
	int err;

	if (mode == DRAFT_STAMP)
		return 0;
	if (mode == DRAFT_READ)
		return load(fs, d);
	err = node_path(&fs->nodes, d->node, &path);
	if (err)
		return err;
	err = cell_rules(fs, &path, &rules);
	if (!err && rules.aggregate)
		err = fail(EPERM, "family %.*s has an aggregate type",
			   (int)path.family.size,
			   (const char *)path.family.data);
	path_release(&path);
	if (err)
		return err;
	d->millis = rules.millis;
	if (mode == DRAFT_WRITE) {
		err = load(fs, d);
		if (err)
			return err;
	} else {
		empty(d);
		touch(d);
	}
	if (d->writers++ == 0)
		d->has_written = false;
	return 0;
}

int draft_open(struct fs *fs, struct node *node, enum draft_mode mode,
	       struct draft **out)
{
	struct draft *d;
	int err;

	pthread_mutex_lock(&fs->nodes.lock);
	d = node->draft ? node->draft : make_draft(fs, node);
	if (d)
		d->references++;
	pthread_mutex_unlock(&fs->nodes.lock);
	if (!d)
		return -ENOMEM;
	pthread_mutex_lock(&d->lock);
	err = start(fs, d, mode);
	pthread_mutex_unlock(&d->lock);
	if (err)
		draft_put(fs, d);
	else
		*out = d;
	return err;
}

void draft_close(struct fs *fs, struct draft *d, enum draft_mode mode)
{
	int err = 0;

	if (mode != DRAFT_READ && mode != DRAFT_STAMP) {
		pthread_rwlock_rdlock(&fs->tree);
		pthread_mutex_lock(&d->lock);
		assert(d->writers > 0);
		if (--d->writers == 0) {
			err = draft_commit_locked(fs, d, false);
			d->has_written = false;
			d->mode = 0;
		}
		pthread_mutex_unlock(&d->lock);
		pthread_rwlock_unlock(&fs->tree);
	}
	if (err) {
		fs_log_error(fs, d->node, NULL, err);
		/* A file that could not be made is gone. */
		if (d->node->local) {
			node_detach(&fs->nodes, d->node);
			fs_changed_outside(fs);
		}
	}
	draft_put(fs, d);
}

uint64_t draft_time(const struct draft *d)
{
	if (d->dirty)
		return d->has_pending ? d->pending_us : d->modified_us;
	return d->base_us;
}

void draft_reply(struct fs *fs, struct draft *d, fuse_req_t req,
		 uint64_t offset, size_t size)
{
	char *copy;
	ssize_t n;

	/* With the reply the handle may be closed by another thread. */
	pthread_mutex_lock(&fs->nodes.lock);
	d->references++;
	pthread_mutex_unlock(&fs->nodes.lock);
	pthread_mutex_lock(&d->lock);
	if (offset >= d->size) {
		fuse_reply_buf(req, NULL, 0);
	} else if (d->fd >= 0) {
		copy = malloc(size);
		n = copy ? pread(d->fd, copy, size, (off_t)offset) : -1;
		if (n < 0)
			fuse_reply_err(req, copy ? errno : ENOMEM);
		else
			fuse_reply_buf(req, copy, (size_t)n);
		free(copy);
	} else {
		struct bytes all = d->owned ? buf_bytes(&d->data) : d->value;

		if (size > d->size - offset)
			size = d->size - offset;
		fuse_reply_buf(req, (const char *)all.data + offset, size);
	}
	pthread_mutex_unlock(&d->lock);
	draft_put(fs, d);
}

static int write_file(int fd, struct bytes data, uint64_t offset)
{
	while (data.size > 0) {
		ssize_t n = pwrite(fd, data.data, data.size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(errno, "temporary file: %s",
				    strerror(errno));
		data = bytes_after(data, (size_t)n);
		offset += (uint64_t)n;
	}
	return 0;
}

/* Moves the content to an unlinked file. */
static int spill(struct draft *d)
{
	const char *directory = getenv("TMPDIR");
	int fd, err;

	fd = open(directory ? directory : "/tmp",
		  O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(errno, "no temporary file in %s",
			    directory ? directory : "/tmp");
	err = write_file(fd, d->owned ? buf_bytes(&d->data) : d->value, 0);
	if (err) {
		close(fd);
		return err;
	}
	d->fd = fd;
	d->owned = true;
	buf_release(&d->data);
	buf_release(&d->memory);
	d->value = BYTES_NONE;
	return 0;
}

/* Makes the content a buffer that may grow to size. */
static int own(struct draft *d, uint64_t size)
{
	int err;

	if (d->fd >= 0)
		return 0;
	if (size > DRAFT_MEMORY_MAX)
		return spill(d);
	if (d->owned)
		return 0;
	err = buf_set(&d->data, d->value);
	if (err)
		return err;
	buf_release(&d->memory);
	d->value = BYTES_NONE;
	d->owned = true;
	return 0;
}

/* Sets the size of an owned content, zeroes where it grows. */
static int resize(struct draft *d, uint64_t size)
{
	int err;

	if (d->fd >= 0) {
		if (ftruncate(d->fd, (off_t)size))
			return fail(errno, "temporary file: %s",
				    strerror(errno));
	} else if (size > d->data.size) {
		err = buf_reserve(&d->data, size - d->data.size);
		if (err)
			return err;
		memset(d->data.data + d->data.size, 0, size - d->data.size);
		d->data.size = size;
	} else {
		d->data.size = size;
	}
	d->size = size;
	return 0;
}

static int check_size(uint64_t size)
{
	if (size > STORE_VALUE_MAX)
		return fail(ERR_value_too_large, "%llu bytes, at most %u",
			    (unsigned long long)size, STORE_VALUE_MAX);
	return 0;
}

static int write_locked(struct draft *d, struct bytes data, uint64_t offset)
{
	uint64_t end = offset + data.size;
	int err = end < offset ? -EFBIG : check_size(end);

	if (!err)
		err = own(d, end > d->size ? end : d->size);
	if (!err && end > d->size)
		err = resize(d, end);
	if (err)
		return err;
	if (d->fd >= 0)
		err = write_file(d->fd, data, offset);
	else if (data.size > 0)
		memcpy(d->data.data + offset, data.data, data.size);
	touch(d);
	return err;
}

int draft_write(struct draft *d, struct bytes data, uint64_t offset,
		bool append)
{
	int err;

	pthread_mutex_lock(&d->lock);
	err = write_locked(d, data, append ? d->size : offset);
	pthread_mutex_unlock(&d->lock);
	return err;
}

int draft_truncate(struct draft *d, uint64_t size)
{
	int err = check_size(size);

	if (err)
		return err;
	pthread_mutex_lock(&d->lock);
	err = own(d, size > d->size ? size : d->size);
	if (!err)
		err = resize(d, size);
	if (!err)
		touch(d);
	pthread_mutex_unlock(&d->lock);
	return err;
}

int draft_map(struct draft *d, struct bytes *value)
{
	void *at;

	*value = d->owned ? buf_bytes(&d->data) : d->value;
	if (d->fd < 0)
		return 0;
	*value = BYTES_NONE;
	if (d->size == 0)
		return 0;
	at = mmap(NULL, d->size, PROT_READ, MAP_SHARED, d->fd, 0);
	if (at == MAP_FAILED)
		return fail(errno, "temporary file: %s", strerror(errno));
	*value = bytes_of(at, d->size);
	return 0;
}

void draft_unmap(struct draft *d, struct bytes value)
{
	if (d->fd >= 0 && value.size > 0)
		munmap((void *)(uintptr_t)value.data, value.size);
}
