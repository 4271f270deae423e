#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"
#include "store/base/err.h"
#include "store/engine/log/wal.h"
#include "store/engine/log/wal_chunk.h"

/*
 * A record's chunks are put together in memory and handed to the volume by one
 * append, so that a failure for lack of space leaves nothing of it.
 */

/* A record's buffer that has grown larger is not kept for the next. */
#define KEEP_SIZE (1 << 20)

struct wal {
	struct log *log; /* owned */
	uint64_t id;
	struct buf chunks;       /* of the record being appended; kept for the
				    next; the writer's */
	uint64_t held;           /* bytes that need no new space; the
				    writer's */
	_Atomic uint64_t size;   /* bytes appended */
	_Atomic uint64_t synced; /* of them, known durable */
	atomic_bool broken;      /* an append or sync has failed */
};

int wal_create(struct volume *v, const char *name, uint64_t log_id,
	       struct wal **out)
{
	struct wal *w = calloc(1, sizeof(*w));
	int err;

	*out = NULL;
	if (!w)
		return -ENOMEM;
	w->id = log_id;
	err = v->ops->log_create(v, name, &w->log);
	if (err < 0) {
		free(w);
		return err;
	}
	*out = w;
	return 0;
}

int wal_from_spare(struct volume *v, const char *name, uint64_t log_id,
		   uint64_t size, struct wal **out)
{
	struct wal *w = calloc(1, sizeof(*w));
	int err;

	*out = NULL;
	if (!w)
		return -ENOMEM;
	w->id = log_id;
	w->held = size;
	err = v->ops->log_from_spare(v, name, size, &w->log);
	if (err < 0) {
		free(w);
		return err;
	}
	*out = w;
	return 0;
}

/* A header, and perhaps zeros before it. Of two, what is less in fact makes up
 * for the head of a log. */
#define CHUNK_COST_MAX (2 * (size_t)WAL_BLOCK_END)

static_assert(2 * (WAL_HEADER_SIZE + WAL_BLOCK_END) + WAL_HEADER_SIZE +
			      WAL_HEAD_SIZE <=
		      2 * CHUNK_COST_MAX,
	      "two chunks leave room for the head of a log");

/* Chunks of a record: one more for the rest of the present block, one for the
 * last. */
static size_t chunks_of(size_t record_size)
{
	return record_size / (WAL_BLOCK_SIZE - WAL_HEADER_SIZE) + 2;
}

/* The size of the log with one more record and a promise, which ends it. */
static uint64_t size_with(const struct wal *w, size_t record_size)
{
	return wal_size(w) + record_size +
	       (chunks_of(record_size) + 2) * CHUNK_COST_MAX;
}

bool wal_has_room(const struct wal *w, size_t record_size)
{
	return size_with(w, record_size) <= w->held;
}

int wal_reserve(struct wal *w, size_t record_size, uint64_t more)
{
	uint64_t size = size_with(w, record_size) + more;
	int err;

	if (wal_has_room(w, record_size))
		return 0;
	err = w->log->ops->log_hold(w->log, size);
	if (err == 0)
		w->held = size;
	return err;
}

/* The chunk that comes next, at offset in the log. Room for it was reserved. */
static void add_chunk(struct wal *w, uint64_t offset, enum chunk_type type,
		      struct bytes payload)
{
	uint64_t back =
		offset - atomic_load_explicit(&w->synced, memory_order_relaxed);
	/* The header, with its place, which is not written, over and before the
	 * checksum, so that all that this is of stands together, in words. */
	_Alignas(8) uint8_t place[WAL_PLACE_SIZE + WAL_HEADER_SIZE];
	uint8_t *header = place + WAL_PLACE_SIZE - WAL_AT_SIZE;
	uint32_t crc;

	assert(payload.size <= WAL_BLOCK_SIZE - WAL_HEADER_SIZE);
	assert(w->chunks.capacity - w->chunks.size >=
	       WAL_HEADER_SIZE + payload.size);
	wal_place(w->id, offset, place);
	put_u16le(header + WAL_AT_SIZE, (uint16_t)payload.size);
	header[WAL_AT_TYPE] = (uint8_t)type;
	put_u32le(header + WAL_AT_BACK,
		  back < WAL_BACK_NONE ? (uint32_t)back : WAL_BACK_NONE);
	crc = crc32c(0, bytes_of(place, WAL_PLACE_SIZE + WAL_HEADER_SIZE -
						WAL_AT_SIZE));
	put_u32le(header, crc32c(crc, payload));
	buf_add(&w->chunks, header, WAL_HEADER_SIZE);
	buf_add_bytes(&w->chunks, payload);
}

/* What a log begins with. Rarely called, so that add_chunk is made part of what
 * writes records. */
__attribute__((cold)) static void add_head(struct wal *w)
{
	uint8_t id[WAL_HEAD_SIZE];

	put_u64le(id, w->id);
	add_chunk(w, 0, CHUNK_HEAD, bytes_of(id, sizeof(id)));
}

/* Fills w->chunks with the record, or with a promise. */
static int assemble(struct wal *w, struct bytes record, bool promise)
{
	static const uint8_t zeros[WAL_BLOCK_END];
	uint64_t start = wal_size(w);
	bool first = true, last;
	int err;

	assert(!promise || record.size == 0);
	buf_reset(&w->chunks);
	err = buf_reserve(&w->chunks, record.size + chunks_of(record.size) *
							    CHUNK_COST_MAX);
	if (err < 0)
		return err;
	if (start == 0)
		add_head(w);
	do {
		uint64_t offset = start + w->chunks.size;
		size_t left = wal_left_in_block(offset);
		struct bytes payload = record;

		if (left < WAL_BLOCK_END) {
			buf_add(&w->chunks, zeros, left);
			offset += left;
			left = WAL_BLOCK_SIZE;
		}
		left -= WAL_HEADER_SIZE;
		last = record.size <= left;
		if (!last)
			payload.size = left;
		record = bytes_after(record, payload.size);
		add_chunk(w, offset,
			  promise         ? CHUNK_PROMISE
			  : first && last ? CHUNK_FULL
			  : first         ? CHUNK_FIRST
			  : last          ? CHUNK_LAST
					  : CHUNK_MIDDLE,
			  payload);
		first = false;
	} while (!last);
	return 0;
}

/* Size counts what was handed to the volume whole. It grows after the append,
 * so that a sync beside it does not take for durable what is not written. */
static int append(struct wal *w, struct bytes record, bool promise)
{
	int err;

	if (atomic_load(&w->broken))
		return fail(EIO, "%s: an earlier write failed", w->log->path);
	err = assemble(w, record, promise);
	if (err < 0)
		return err; /* nothing was written */
	err = w->log->ops->log_append(w->log, buf_bytes(&w->chunks));
	if (err < 0) {
		/* For lack of space nothing was written. */
		if (err != -ENOSPC)
			atomic_store(&w->broken, true);
		return err;
	}
	atomic_store_explicit(&w->size, wal_size(w) + w->chunks.size,
			      memory_order_release);
	if (w->chunks.capacity > KEEP_SIZE)
		buf_release(&w->chunks);
	return 0;
}

int wal_append(struct wal *w, struct bytes record)
{
	return append(w, record, false);
}

int wal_sync(struct wal *w)
{
	uint64_t size = wal_size(w); /* before: what is added meanwhile may be
					durable or not */
	uint64_t synced;
	int err;

	if (atomic_load(&w->broken))
		return fail(EIO, "%s: an earlier write failed", w->log->path);
	err = w->log->ops->log_sync(w->log);
	/* After a failed sync the system may have dropped what was dirty, and
	 * the next sync would succeed without it. */
	if (err < 0) {
		if (err != -ENOSPC)
			atomic_store(&w->broken, true);
		return err;
	}
	/* Another sync may have covered more meanwhile. */
	synced = atomic_load(&w->synced);
	while (synced < size &&
	       !atomic_compare_exchange_weak(&w->synced, &synced, size))
		;
	return 0;
}

bool wal_broken(const struct wal *w)
{
	return atomic_load(&w->broken);
}

uint64_t wal_size(const struct wal *w)
{
	return atomic_load_explicit(&w->size, memory_order_acquire);
}

int wal_finish(struct wal *w, uint64_t *size)
{
	int err = wal_sync(w);

	/* Its synced is then the offset at which it lies; see take_chunk. */
	assert(err < 0 || atomic_load(&w->synced) == wal_size(w));
	if (!err)
		err = append(w, BYTES_NONE, true);
	if (!err)
		err = wal_sync(w);
	*size = err ? 0 : wal_size(w);
	return err;
}

void wal_abandon(struct wal *w)
{
	if (!w)
		return;
	w->log->ops->log_close(w->log);
	buf_release(&w->chunks);
	free(w);
}
