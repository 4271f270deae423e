#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/rados/object/pool_op.h"
#include "store/base/rados/object/pool_window.h"
#include "store/base/rados/pool_garbage.h"
#include "store/base/rados/pool_log.h"
#include "store/base/rados/pool_reader.h"

/* Bytes; what is larger is read without a window. */
#define WINDOW_READ_MAX (1 << 19)

struct pool_reader {
	struct reader reader; /* first, so that it can be cast */
	struct pool_file file;
	struct pool_reading reading;
	char *path;                   /* owned */
	_Atomic uint64_t next_offset; /* where the last read ended */
	char name[VOLUME_NAME_MAX + 1];
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
		err = pool_find(v, name, &r->file.entry);
	if (err == 0 && r->file.entry.state == POOL_LOG)
		err = pool_log_size(v, name, r->file.entry.nonce,
				    &r->file.entry.size);
	if (err < 0) {
		free(r->path);
		free(r);
		return err;
	}
	r->file.volume = v;
	r->file.name = r->name;
	atomic_store(&r->next_offset, UINT64_MAX);
	r->reader.ops = v->volume.ops;
	r->reader.size = r->file.entry.size;
	r->reader.path = r->path;
	pthread_mutex_lock(&v->lock);
	r->reading = (struct pool_reading){ v->readings, r->file.entry.nonce };
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
	if (got == -ENOENT && r->file.volume->lease == POOL_NEVER)
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
	uint64_t part_size = pool_part_size(r->file.entry.state), at;
	char oid[POOL_PART_NAME_SIZE];
	ssize_t got;
	size_t n;

	for (; size > 0; offset += n, data += n, size -= n) {
		at = offset % part_size;
		n = part_size - at < size ? (size_t)(part_size - at) : size;
		pool_part_name(r->name, r->file.entry.nonce, offset / part_size,
			       oid);
		got = pool_bytes(r->file.volume, oid, at, data, n);
		if (got < 0 && got != -ENOENT)
			return pool_fail(r->file.volume, r->name, (int)got,
					 "cannot read");
		if (got != (ssize_t)n)
			return fail_short(r, offset, n, got);
	}
	return 0;
}

/* By windows, for who reads on: how many of the first bytes, or an error. */
static ssize_t read_windows(struct pool_reader *r, uint64_t offset, void *data,
			    size_t size)
{
	uint64_t next = atomic_exchange(&r->next_offset, offset + size);
	ssize_t got = pool_window_take(&r->file, offset, data, size), more;

	if (got >= 0 && (size_t)got < size && offset == next &&
	    size <= WINDOW_READ_MAX) {
		pool_window_begin(&r->file, offset + (uint64_t)got, true);
		more = pool_window_take(&r->file, offset + (uint64_t)got,
					(uint8_t *)data + got,
					size - (size_t)got);
		got = more < 0 ? more : got + more;
	}
	return got < 0 ? pool_fail(r->file.volume, r->name, (int)got,
				   "cannot read")
		       : got;
}

int pool_pread(struct reader *reader, uint64_t offset, void *data, size_t size)
{
	struct pool_reader *r = (struct pool_reader *)reader;
	ssize_t got = 0;

	if (size == 0)
		return 0;
	if (r->file.entry.state == POOL_LOG)
		pool_log_settle(r->file.volume, r->name);
	else if (offset > reader->size || size > reader->size - offset)
		return fail(EIO, "%s: wanted %zu bytes at %llu of %llu",
			    r->path, size, (unsigned long long)offset,
			    (unsigned long long)reader->size);
	else
		got = read_windows(r, offset, data, size);
	return got < 0 ? (int)got
		       : read_parts(r, offset + (uint64_t)got,
				    (uint8_t *)data + got, size - (size_t)got);
}

/* Garbage may have waited for it. */
void pool_reader_close(struct reader *reader)
{
	struct pool_reader *r = (struct pool_reader *)reader;
	struct pool_reading **at;
	struct pool_volume *v = r->file.volume;
	bool is_garbage;

	pool_window_forget(&r->file);
	pthread_mutex_lock(&v->lock);
	for (at = &v->readings; *at != &r->reading; at = &(*at)->next)
		continue;
	*at = r->reading.next;
	is_garbage = v->garbage != NULL;
	pthread_mutex_unlock(&v->lock);
	if (is_garbage)
		pool_garbage_look(v);
	free(r->path);
	free(r);
}
