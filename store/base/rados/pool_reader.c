#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/rados/pool_garbage.h"
#include "store/base/rados/pool_log.h"
#include "store/base/rados/pool_op.h"
#include "store/base/rados/pool_reader.h"

/* Bytes of a window; what is larger is read without one. */
#define WINDOW_SIZE (1 << 20)
#define WINDOW_READ_MAX (WINDOW_SIZE / 2)

struct pool_reader {
	struct reader reader;       /* first, so that it can be cast */
	struct pool_volume *volume; /* borrowed */
	struct pool_reading reading;
	char *path; /* owned */
	struct pool_entry entry;
	_Atomic uint64_t next_offset; /* where the last read ended */
	char name[VOLUME_NAME_MAX + 1];
};

/* Bytes of a file ahead of who reads it; protected by the volume's lock. */
struct pool_window {
	const struct pool_reader *reader; /* NULL: it is free */
	uint64_t offset;
	size_t size;
	uint8_t *data;
	uint64_t used; /* by the volume's window_clock */
};

/* A log that grows is as long as it is in the pool, with what this volume's own
 * writer was handed. */
int pool_open(struct volume *volume, const char *name, struct reader **out)
{
	struct pool_volume *v = pool(volume);
	struct pool_reader *r;
	int err = pool_check_name(v, name);

	*out = NULL;
	r = err < 0 ? NULL : calloc(1, sizeof(*r));
	if (!r)
		return err < 0 ? err : -ENOMEM;
	snprintf(r->name, sizeof(r->name), "%s", name);
	pool_log_settle(v, name);
	err = asprintf(&r->path, "%s/%s", v->path, name) < 0 ? -ENOMEM : 0;
	if (err == 0)
		err = pool_find(v, name, &r->entry);
	if (err == 0 && r->entry.state == POOL_LOG)
		err = pool_log_size(v, name, r->entry.nonce, &r->entry.size);
	if (err < 0) {
		free(r->path);
		free(r);
		return err;
	}
	r->volume = v;
	atomic_store(&r->next_offset, UINT64_MAX);
	r->reader.ops = v->volume.ops;
	r->reader.size = r->entry.size;
	r->reader.path = r->path;
	pthread_mutex_lock(&v->lock);
	r->reading = (struct pool_reading){ v->readings, r->entry.nonce };
	v->readings = &r->reading;
	pthread_mutex_unlock(&v->lock);
	*out = &r->reader;
	return 0;
}

/* A part is not there, or not all of it. Who writes the store, or keeps its
 * writer out, has all parts of what the registry has; others may read what has
 * left that since they looked. */
static int fail_short(const struct pool_reader *r, uint64_t offset, size_t size,
		      ssize_t got)
{
	if (got == -ENOENT && r->volume->lease == POOL_NEVER)
		return fail(ESTALE,
			    "%s: was merged away by who writes the store; its "
			    "reader-grace= keeps files for those who read",
			    r->path);
	return fail(EIO, "%s: wanted %zu bytes at %llu, and %zd are there",
		    r->path, size, (unsigned long long)offset,
		    got < 0 ? 0 : got);
}

/* From the parts: all of it, or an error. */
static int read_parts(struct pool_reader *r, uint64_t offset, uint8_t *data,
		      size_t size)
{
	uint64_t part_size = pool_part_size(r->entry.state), at;
	char oid[POOL_PART_NAME_SIZE];
	ssize_t got;
	size_t n;

	for (; size > 0; offset += n, data += n, size -= n) {
		at = offset % part_size;
		n = part_size - at < size ? (size_t)(part_size - at) : size;
		pool_part_name(r->name, r->entry.nonce, offset / part_size,
			       oid);
		got = pool_bytes(r->volume, oid, at, data, n);
		if (got < 0 && got != -ENOENT)
			return pool_fail(r->volume, r->name, (int)got,
					 "cannot read");
		if (got != (ssize_t)n)
			return fail_short(r, offset, n, got);
	}
	return 0;
}

/* Copies from a window, which goes when it was read to its end. */
static bool take_window(struct pool_reader *r, uint64_t offset, void *data,
			size_t size)
{
	struct pool_volume *v = r->volume;
	struct pool_window *w = v->windows;
	bool has = false;
	size_t i;

	pthread_mutex_lock(&v->lock);
	for (i = 0; w && i < POOL_WINDOWS && !has; i++, w++) {
		if (w->reader != r || offset < w->offset ||
		    offset - w->offset > w->size ||
		    size > w->size - (offset - w->offset))
			continue;
		memcpy(data, w->data + (offset - w->offset), size);
		w->used = ++v->window_clock;
		if (offset + size == w->offset + w->size)
			w->reader = NULL;
		has = true;
	}
	pthread_mutex_unlock(&v->lock);
	return has;
}

/* Gives a window of r to the volume, in the place of the one that was used
 * longest ago; takes data. */
static void put_window(struct pool_reader *r, uint64_t offset, uint8_t *data,
		       size_t size)
{
	struct pool_volume *v = r->volume;
	struct pool_window *w;
	uint8_t *old = data;
	size_t i;

	pthread_mutex_lock(&v->lock);
	if (!v->windows)
		v->windows = calloc(POOL_WINDOWS, sizeof(*v->windows));
	w = v->windows;
	for (i = 0; v->windows && i < POOL_WINDOWS; i++)
		if (!v->windows[i].reader ||
		    (w->reader && v->windows[i].used < w->used))
			w = &v->windows[i];
	if (w) {
		old = w->data;
		*w = (struct pool_window){ r, offset, size, data,
					   ++v->window_clock };
	}
	pthread_mutex_unlock(&v->lock);
	free(old);
}

/* Reads a window at offset, and the first size bytes of it; 1 if there is no
 * memory for one. */
static int read_ahead(struct pool_reader *r, uint64_t offset, void *data,
		      size_t size)
{
	uint64_t left = r->reader.size - offset;
	size_t n = left < WINDOW_SIZE ? (size_t)left : WINDOW_SIZE;
	uint8_t *window = malloc(n);
	int err;

	if (!window)
		return 1;
	err = read_parts(r, offset, window, n);
	if (err < 0) {
		free(window);
		return err;
	}
	memcpy(data, window, size);
	if (size < n)
		put_window(r, offset, window, n);
	else
		free(window);
	return 0;
}

/* Two that read on in one file at once disturb each other's windows, and still
 * read what is there. */
int pool_pread(struct reader *reader, uint64_t offset, void *data, size_t size)
{
	struct pool_reader *r = (struct pool_reader *)reader;
	uint64_t next = atomic_exchange(&r->next_offset, offset + size);
	bool grows = r->entry.state == POOL_LOG;
	int err = 1;

	if (size == 0)
		return 0;
	if (grows)
		pool_log_settle(r->volume, r->name);
	else if (offset > reader->size || size > reader->size - offset)
		return fail(EIO, "%s: wanted %zu bytes at %llu of %llu",
			    r->path, size, (unsigned long long)offset,
			    (unsigned long long)reader->size);
	else if (take_window(r, offset, data, size))
		return 0;
	if (!grows && offset == next && size <= WINDOW_READ_MAX)
		err = read_ahead(r, offset, data, size);
	return err > 0 ? read_parts(r, offset, data, size) : err;
}

/* Garbage may have waited for it. */
void pool_reader_close(struct reader *reader)
{
	struct pool_reader *r = (struct pool_reader *)reader;
	struct pool_reading **at;
	struct pool_volume *v = r->volume;
	bool is_garbage;
	size_t i;

	pthread_mutex_lock(&v->lock);
	for (at = &v->readings; *at != &r->reading; at = &(*at)->next)
		continue;
	*at = r->reading.next;
	for (i = 0; v->windows && i < POOL_WINDOWS; i++)
		if (v->windows[i].reader == r)
			v->windows[i].reader = NULL;
	is_garbage = v->garbage != NULL;
	pthread_mutex_unlock(&v->lock);
	if (is_garbage)
		pool_garbage_look(v);
	free(r->path);
	free(r);
}

void pool_windows_end(struct pool_volume *v)
{
	size_t i;

	for (i = 0; v->windows && i < POOL_WINDOWS; i++)
		free(v->windows[i].data);
	free(v->windows);
}
