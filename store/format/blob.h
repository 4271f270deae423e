#ifndef STORE_FORMAT_BLOB_H
#define STORE_FORMAT_BLOB_H

#include "store/base/buf.h"

/*
 * Large values: a value is stored as chunks in blob files, and its entry has
 * the kind KEY_BLOB and a list of references to them for a value. So a value
 * that differs from another in one chunk costs one chunk. The bytes are
 * described in store/README.md. Pure functions, so there is nothing to lock;
 * nothing read is trusted.
 *
 * A blob file is a header and chunks. A chunk is a head, under whose checksum
 * are its content, its file and its place, and its payload: a piece of a value,
 * as it is or by LZ4.
 */
#define BLOB_HEADER_SIZE 32 /* of a file */
#define BLOB_HEAD_SIZE 16   /* of a chunk */
/* What a reader takes; the store writes chunks of 1 MiB, and values to
 * STORE_VALUE_MAX. */
#define BLOB_CHUNK_SIZE_MAX (UINT32_C(16) << 20)
#define BLOB_VALUE_SIZE_MAX UINT32_MAX

/* A reference to a chunk. */
struct blob_chunk {
	uint64_t file;   /* its id */
	uint64_t offset; /* of its head */
	uint32_t size;   /* of its payload as stored */
	uint32_t crc; /* that in its head, so that no other can pass for it */
};

/* A large value: all of its chunks but the last hold chunk_size bytes. */
struct blob_list {
	uint64_t size; /* of the value */
	uint32_t chunk_size;
	uint32_t count; /* of chunks: size / chunk_size, rounded up */
	struct blob_chunk *chunks; /* owned */
};

#define BLOB_LIST_INIT        \
	{                     \
		0, 0, 0, NULL \
	}

/* Whether both are the same chunk, not whether they hold the same bytes. */
static inline bool blob_chunk_equal(const struct blob_chunk *a,
				    const struct blob_chunk *b)
{
	return a->file == b->file && a->offset == b->offset;
}

/* Bytes of it in its file. */
static inline uint64_t blob_stored_size(const struct blob_chunk *c)
{
	return BLOB_HEAD_SIZE + (uint64_t)c->size;
}

/* How many bytes of the value the chunk with this index, less than count,
 * holds.
 */
uint32_t blob_chunk_raw_size(const struct blob_list *l, uint32_t index);

/* Appends the list's bytes to out. 0 or -ENOMEM. */
int blob_list_encode(const struct blob_list *l, struct buf *out);

/* All of in is the list. 0, or -ENOMEM or -ERR_blob_damaged; then l is empty.
 */
int blob_list_decode(struct bytes in, struct blob_list *l);

/* to need not be initialized. 0, or -ENOMEM; then it is empty. */
int blob_list_copy(const struct blob_list *from, struct blob_list *to);
void blob_list_release(struct blob_list *l);

/* The size of the value alone; the rest of in is not looked at. 0 if it does
 * not even begin as a list. */
uint64_t blob_list_value_size(struct bytes in);

/* Writes a file's header to raw, which has BLOB_HEADER_SIZE bytes. */
void blob_header_encode(uint64_t file, uint8_t *raw);

/* The id in such a header, which may hold anything. */
uint64_t blob_header_id(const uint8_t *raw);

/* 0 if raw, of BLOB_HEADER_SIZE bytes, is the header of this file, else
 * -ERR_blob_damaged or -ERR_format_newer. path is for messages. */
int blob_header_check(const uint8_t *raw, uint64_t file, const char *path);

/*
 * A chunk is made in two steps, so that the slow one needs no lock: encoding
 * replaces out by the chunk of raw, 1 to BLOB_CHUNK_SIZE_MAX bytes, and once
 * its place in a file is known, blob_chunk_place finishes the head and makes
 * the reference. A chunk is placed once.
 */
int blob_chunk_encode(struct bytes raw, struct buf *out);
void blob_chunk_place(struct buf *chunk, uint64_t file, uint64_t offset,
		      struct blob_chunk *c);
/*
 * Checks what was read where c points, blob_stored_size bytes of it, and writes
 * the raw_size bytes that it holds to raw. path is for messages.
 * -ERR_blob_damaged, -ERR_format_newer for an unknown codec; then raw may hold
 * anything.
 */
int blob_chunk_decode(struct bytes stored, const struct blob_chunk *c,
		      uint32_t raw_size, void *raw, const char *path);

/* What a chunk's head says, for who comes to it without a reference: the chunk
 * that a reference to it would name, of a file at an offset, and how many bytes
 * it holds. False if raw, BLOB_HEAD_SIZE bytes, is no head by its sizes; with
 * known, also if its codec is none that is known or does not fit to them. */
bool blob_head_read(const uint8_t *raw, uint64_t file, uint64_t offset,
		    struct blob_chunk *c, uint32_t *raw_size, bool known);

/* How many bytes of a file are referred to, heads of chunks included. */
struct blob_share {
	uint64_t file;
	uint64_t size;
};

/*
 * Tells which blob files a sorted run of lists refers to, and to how many bytes
 * of each; a chunk that the list before, of the same column, has in the same
 * place is the same and counts once. Zeroed, it is empty.
 */
struct blob_tally {
	struct blob_share *shares; /* ascending by file; owned */
	size_t count;
	struct blob_list last; /* of the present column */
};

void blob_tally_release(struct blob_tally *t);

/* Adds list, which passes to the tally, also on failure. begins: it is the
 * first of its column. 0 or -ENOMEM. */
int blob_tally_add(struct blob_tally *t, struct blob_list *list, bool begins);

#endif
