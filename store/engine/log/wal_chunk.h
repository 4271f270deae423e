#ifndef STORE_ENGINE_LOG_WAL_CHUNK_H
#define STORE_ENGINE_LOG_WAL_CHUNK_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "store/base/coding.h"
#include "store/base/crc32c.h"

/*
 * The bytes of a chunk of a log, for the writing of it, wal.c, and the reading,
 * wal_read.c; wal.h tells what they mean.
 */
enum {
	WAL_BLOCK_SIZE = 32 << 10,
	/* Fewer bytes than these at the end of a block are zeros. */
	WAL_BLOCK_END = 23,
	WAL_HEADER_SIZE = 11,
	/* Where the header's fields are. */
	WAL_AT_SIZE = 4,
	WAL_AT_TYPE = 6,
	WAL_AT_BACK = 7,
	/* What the checksum is of besides, see wal_place: so that it is of
	 * whole words before the payload, which is faster. */
	WAL_PLACE_SIZE = 17,
	/* As programs of format 1 wrote it, size and type in the same place. */
	WAL_OLD_HEADER_SIZE = 23,
	WAL_OLD_AT_LOG_ID = 7,
	WAL_OLD_AT_SYNCED = 15,
	/* The payload of CHUNK_HEAD: the log's id. */
	WAL_HEAD_SIZE = 8,
};

/* A chunk that promises nothing, as that would lie too far before it. */
#define WAL_BACK_NONE UINT32_MAX

static_assert((WAL_PLACE_SIZE + WAL_HEADER_SIZE - WAL_AT_SIZE) % 8 == 0,
	      "words");
static_assert(WAL_AT_BACK + 4 == WAL_HEADER_SIZE, "the header ends with back");
static_assert(WAL_OLD_AT_SYNCED + 8 == WAL_OLD_HEADER_SIZE,
	      "the former header ends with synced");
static_assert(WAL_OLD_HEADER_SIZE <= WAL_BLOCK_END,
	      "where a chunk may begin there is room for a header");
static_assert(WAL_BLOCK_SIZE <= UINT16_MAX, "a size has 16 bits");

/* Written to files: append, never renumber. */
enum chunk_type {
	/* Of format 1. */
	CHUNK_OLD_FULL = 1,
	CHUNK_OLD_PROMISE = 5,
	/* The same five, and what begins a log. */
	CHUNK_FULL = 6,
	CHUNK_FIRST = 7,
	CHUNK_MIDDLE = 8,
	CHUNK_LAST = 9,
	CHUNK_PROMISE = 10, /* of no record: for its synced alone */
	CHUNK_HEAD = 11,    /* of no record: the log's id, for who looks at a
			       log that has lost its name */
};

/* What a chunk is without saying so: of which log, and where in it. Its
 * checksum is of that, first, and of what follows it. */
static inline void wal_place(uint64_t log_id, uint64_t offset, uint8_t *place)
{
	put_u64le(place, log_id);
	put_u64le(place + 8, offset);
	place[16] = 0;
}

static inline uint32_t wal_place_crc(uint64_t log_id, uint64_t offset)
{
	uint8_t place[WAL_PLACE_SIZE];

	wal_place(log_id, offset, place);
	return crc32c(0, bytes_of(place, sizeof(place)));
}

/* Bytes from offset to the end of its block, 1 to WAL_BLOCK_SIZE. */
static inline size_t wal_left_in_block(uint64_t offset)
{
	return WAL_BLOCK_SIZE - (size_t)(offset % WAL_BLOCK_SIZE);
}

#endif
