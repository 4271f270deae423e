#ifndef STORE_ENGINE_FILES_WAL_CHUNK_H
#define STORE_ENGINE_FILES_WAL_CHUNK_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of a chunk of a log, for the writing of it, wal.c, and the reading,
 * wal_read.c; wal.h tells what they mean.
 */
enum {
	WAL_BLOCK_SIZE = 32 << 10,
	WAL_HEADER_SIZE = 23,
	/* Where the header's fields are. */
	WAL_AT_SIZE = 4,
	WAL_AT_TYPE = 6,
	WAL_AT_LOG_ID = 7,
	WAL_AT_SYNCED = 15,
};

static_assert(WAL_AT_SYNCED + 8 == WAL_HEADER_SIZE,
	      "the header ends with synced");
static_assert(WAL_BLOCK_SIZE - WAL_HEADER_SIZE <= UINT16_MAX,
	      "a size has 16 bits");

/* Written to files: append, never renumber. */
enum chunk_type {
	CHUNK_FULL = 1,
	CHUNK_FIRST = 2,
	CHUNK_MIDDLE = 3,
	CHUNK_LAST = 4,
	CHUNK_PROMISE = 5, /* of no record: for its synced alone */
};

/* Bytes from offset to the end of its block, 1 to WAL_BLOCK_SIZE. */
static inline size_t wal_left_in_block(uint64_t offset)
{
	return WAL_BLOCK_SIZE - (size_t)(offset % WAL_BLOCK_SIZE);
}

#endif
