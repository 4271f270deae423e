#ifndef STORE_FORMAT_BLOCK_H
#define STORE_FORMAT_BLOCK_H

#include "store/base/coding.h"
#include "store/format/key.h"

/*
 * A block: sorted entries whose keys leave out what they share with the entry
 * before, except at restarts, every so many entries.
 *
 *   entry*  (restart u32)*  restart count u32
 *   entry = varint shared | varint unshared | varint value size | flags u8 |
 *           unshared key bytes | value
 *   restart = offset of an entry that shares nothing; its top bit is set if no
 *             entry since the restart before begins a new row
 *
 * The same-row flag lets a reader step to the next row without rebuilding keys:
 * two rows never share a whole row prefix, so what the next row's first entry
 * shares lies in the bytes that all entries of the row have in common.
 *
 * Stored form: the block as it is, or its size u32 and LZ4 bytes, followed by
 * the compression u8 and the CRC-32C u32 of all before it.
 *
 * Blocks come from disk and may hold anything: nothing here reads beyond one.
 */
enum {
	BLOCK_SAME_ROW = 1,   /* entry flag: same row as the entry before */
	BLOCK_KIND_MASK = 14, /* entry flag: kind of value; 0 is inline */
	BLOCK_TRAILER_SIZE = 5,
};

/* The top bit of a restart is not part of its offset. */
#define BLOCK_SIZE_MAX (UINT32_MAX >> 1)
#define BLOCK_RESTART_SAME_ROW (UINT32_C(1) << 31)

/* The numbers are those on disk. */

enum block_compression {
	BLOCK_RAW = 0,
	BLOCK_LZ4 = 1,
};

/*
 * Heads: of the key at each restart the eight bytes after those that all of
 * them share, so that a search of the block reads one array instead of entries
 * all over it. They are made when a block comes into memory to be searched, and
 * never stored.
 */
struct block_heads {
	uint32_t count;       /* of restarts */
	uint32_t prefix_size; /* what they share, which comes last */
	uint64_t heads[];     /* then the restarts, u32 each */
};

/*
 * Steps through a block. All functions return 1 at an entry, 0 at the end, or
 * -ERR_block_malformed. The fields key, value and flags are for reading, and
 * valid until the next call. An iterator is one thread's; a block may have
 * many.
 */
struct block_iter {
	const uint8_t *data;             /* the block; borrowed */
	const uint8_t *restarts;         /* in it or in heads, u32 each */
	const struct block_heads *heads; /* of this block, or NULL */
	uint32_t end;                    /* of the entries */
	uint32_t restart_count;
	uint32_t position; /* of the present entry */
	uint32_t next;     /* of the entry after it */
	uint8_t *buffer; /* of KEY_SIZE_MAX bytes, or NULL if no entry shares */
	struct bytes key; /* in buffer or in the block */
	struct bytes value;
	uint8_t flags;
};

/* 0, or -ERR_block_malformed; it is at no entry yet. block and heads, which may
 * be NULL and else are of this block, must outlive it; buffer is the caller's.
 */
int block_iter_init(struct block_iter *it, struct bytes block,
		    const struct block_heads *heads, uint8_t *buffer);
int block_iter_first(struct block_iter *it);
int block_iter_last(struct block_iter *it);

/* First entry >= key, which must not lie in the buffer. */
int block_iter_seek(struct block_iter *it, struct bytes key);

/* Last entry < key, which must not lie in the buffer. */
int block_iter_before(struct block_iter *it, struct bytes key);

/* From an entry: the first one after it without the same-row flag. */
int block_iter_next_row(struct block_iter *it);

/* The entry at the offset it->next, of which block_iter_next is sure that there
 * is one. */
int block_iter_read(struct block_iter *it);

/* Reads all of the block: 0 if its restarts say what its entries say. */
int block_iter_verify(struct block_iter *it);

static inline int block_iter_next(struct block_iter *it)
{
	return it->next >= it->end ? 0 : block_iter_read(it);
}

/* Checks the trailer of a stored block and tells how it is stored and the
 * block's size: -ERR_block_checksum, -ERR_block_malformed. A raw block is the
 * first *size bytes of stored. */
int block_check(struct bytes stored, enum block_compression *compression,
		size_t *size);
/* Expands a block of compression LZ4 that was checked into out, which has the
 * size that block_check told. -ERR_block_malformed. */
int block_expand(struct bytes stored, uint8_t *out, size_t size);

#endif
