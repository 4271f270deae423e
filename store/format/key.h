#ifndef STORE_FORMAT_KEY_H
#define STORE_FORMAT_KEY_H

#include "store/base/buf.h"

/*
 * The encoded key of a cell version:
 *
 *   u32be table | row esc 00 01 | family esc 00 01 | qualifier esc 00 01 |
 *   u64be ~timestamp_us | u64be ~(seq << 8 | kind)
 *
 * esc writes 00 as 00 FF (the escape of FoundationDB's tuple layer), so that
 * memcmp on encoded keys orders them by table, row, family, qualifier, newest
 * timestamp first, newest write first, and a row that goes on (00 FF) sorts
 * after the one that ends (00 01). There is no other comparator.
 *
 * A *prefix* ends after a terminator: row prefix, family prefix, column prefix.
 * A *version key* is a column prefix and the timestamp, without the last eight
 * bytes. The successor of a prefix, the first key after everything that it
 * starts, is the prefix with its final 01 changed to 02.
 */
enum key_kind {
	KEY_DELETE = 0, /* this version is deleted */
	KEY_PUT = 1,    /* the value follows */
	/* 2 is a range tombstone in a batch, never in a key. */
	KEY_BLOB = 3, /* a put whose value is a list of references, blob.h */
	/* The value is added to what older writes of the version made, in a
	 * family of aggregates; in another it is a put. */
	KEY_MERGE = 4,
};

#define KEY_TABLE_SIZE 4
#define KEY_TIMESTAMP_SIZE 8
#define KEY_TRAILER_SIZE 8
#define KEY_SEQ_MAX ((UINT64_C(1) << 56) - 1)

/* Longest: a 4096-byte row key, a 64-byte family and a 16384-byte qualifier,
 * every byte escaped, with terminators, table, timestamp and trailer. */
#define KEY_SIZE_MAX (2 * (4096 + 64 + 16384) + 6 + 4 + 16)

/* Where the parts of an encoded key end, counted from its start. */
struct key_parts {
	size_t row_end;    /* size of the row prefix */
	size_t family_end; /* size of the family prefix */
	size_t column_end; /* size of the column prefix */
};

/* Each appends to b. 0 or -ENOMEM. */
int key_add_table(struct buf *b, uint32_t table);
/* A row key, family or qualifier: escaped, with its terminator. */
int key_add_part(struct buf *b, struct bytes part);
/* Escaped, without the terminator: the start of all parts with this prefix. */
int key_add_open_part(struct buf *b, struct bytes part);
int key_add_timestamp(struct buf *b, uint64_t timestamp_us);
int key_add_trailer(struct buf *b, uint64_t seq, enum key_kind kind);

/* Replaces from and to by the bounds of a table's rows with start <= key < end,
 * which may be empty: open. */
int key_row_range(uint32_t table, struct bytes start, struct bytes end,
		  struct buf *from, struct buf *to);

/* Splits a full key; -ERR_key_malformed if it is not one. */
int key_split(struct bytes key, struct key_parts *parts);
/* The same where parts are those of a valid key with which key shares its first
 * bytes, as many as shared; all 0 if there is no such key. */
int key_split_after(struct bytes key, size_t shared, struct key_parts *parts);

/* The size of the row prefix alone; 0 if key holds no terminated row. */
size_t key_row_end(struct bytes key);
/* The size of the family prefix of a key whose row prefix has row_end bytes; 0
 * if key holds none. */
size_t key_family_end(struct bytes key, size_t row_end);
/* The size of the column prefix; 0 if key does not hold all of one. */
size_t key_column_end(struct bytes key);

/*
 * The part that starts at offset, decoded. With no escape in it, the result
 * points into key; else it is decoded into scratch, replacing its content.
 * *end is set past the terminator. Malformed: -ERR_key_malformed.
 */
int key_part(struct bytes key, size_t offset, struct buf *scratch,
	     struct bytes *part, size_t *end);

static inline uint32_t key_table(struct bytes key)
{
	return (uint32_t)key.data[0] << 24 | (uint32_t)key.data[1] << 16 |
	       (uint32_t)key.data[2] << 8 | key.data[3];
}

/* These need a full key that key_split accepted. */
uint64_t key_timestamp(struct bytes key);
uint64_t key_seq(struct bytes key);
enum key_kind key_kind(struct bytes key);
/* Kinds that give a version a value. */
static inline bool key_kind_is_put(enum key_kind kind)
{
	return kind == KEY_PUT || kind == KEY_BLOB || kind == KEY_MERGE;
}

/* The key up to its trailer: equal for all writes of one version. */
static inline struct bytes key_version(struct bytes key)
{
	return bytes_of(key.data, key.size - KEY_TRAILER_SIZE);
}

/* Room for any key on the stack: a buf that need not be released. It takes no
 * more than KEY_SIZE_MAX bytes, so the parts' sizes have to be checked before.
 */
struct key_room {
	struct buf buf;
	uint8_t bytes[KEY_SIZE_MAX];
};

static inline struct buf *key_room_init(struct key_room *r)
{
	r->buf.data = r->bytes;
	r->buf.size = 0;
	r->buf.capacity = sizeof(r->bytes);
	return &r->buf;
}

/*
 * Replaces b by the successor of prefix: the least byte string greater than
 * every string that starts with prefix. Trailing FF bytes are stripped first;
 * an empty result stands for no upper bound. 0 or -ENOMEM.
 */
int key_successor(struct bytes prefix, struct buf *b);

#endif
