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
 *
 * Pure functions over bytes. Those that read trust nothing, but where a comment
 * says that they need a key that was checked.
 */

/* What an entry does to its version; the lowest byte of a trailer. */
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
#define KEY_SEQ_MAX ((UINT64_C(1) << 56) - 1) /* the kind has the rest */

/* Longest: a 4096-byte row key, a 64-byte family and a 16384-byte qualifier,
 * every byte escaped, with terminators, table, timestamp and trailer. */
#define KEY_SIZE_MAX (2 * (4096 + 64 + 16384) + 6 + 4 + 16)

/* Where the parts of an encoded key end, counted from its start. */
struct key_parts {
	size_t row_end;    /* size of the row prefix */
	size_t family_end; /* size of the family prefix */
	size_t column_end; /* size of the column prefix */
};

/* A key is put together from its start on. Each call appends to b, in which
 * part must not lie: 0, or -ENOMEM, and b is as it was. */
int key_add_table(struct buf *b, uint32_t table);

/* Appends a row key, family or qualifier: escaped, with its terminator. */
int key_add_part(struct buf *b, struct bytes part);

/* Appends part escaped, without the terminator: the start of all parts that
 * begin with it. */
int key_add_open_part(struct buf *b, struct bytes part);
int key_add_timestamp(struct buf *b, uint64_t timestamp_us);

/* seq is at most KEY_SEQ_MAX. */
int key_add_trailer(struct buf *b, uint64_t seq, enum key_kind kind);

/* Replaces from and to by the bounds of a table's rows with start <= key < end,
 * which may be empty: open. An empty to is no bound, of the last table. 0 or
 * -ENOMEM. */
int key_row_range(uint32_t table, struct bytes start, struct bytes end,
		  struct buf *from, struct buf *to);

/* Splits a full key; -ERR_key_malformed if it is not one, and then parts may be
 * anything. */
int key_split(struct bytes key, struct key_parts *parts);

/* As key_split, where parts are those of a valid key with which key shares its
 * first bytes, as many as shared; all 0 if there is no such key. What both
 * share is not looked at again. */
int key_split_after(struct bytes key, size_t shared, struct key_parts *parts);

/* The size of the row prefix alone; 0 if key holds no terminated row. */
size_t key_row_end(struct bytes key);

/* Whether b, a key or a prefix, is of the row of a, which is a key. */
bool key_same_row(struct bytes a, struct bytes b);

/* The size of the family prefix of a key whose row prefix has row_end bytes; 0
 * if key holds none. */
size_t key_family_end(struct bytes key, size_t row_end);

/* The size of the column prefix; 0 if key does not hold all of one. */
size_t key_column_end(struct bytes key);

/*
 * The part that starts at offset, decoded. With no escape in it, the result
 * points into key; else it is decoded into scratch, replacing its content, and
 * lives as long as that. *end is set past the terminator, where the next part
 * starts. -ERR_key_malformed, -ENOMEM.
 */
int key_part(struct bytes key, size_t offset, struct buf *scratch,
	     struct bytes *part, size_t *end);

/* key has at least KEY_TABLE_SIZE bytes. */
static inline uint32_t key_table(struct bytes key)
{
	return (uint32_t)key.data[0] << 24 | (uint32_t)key.data[1] << 16 |
	       (uint32_t)key.data[2] << 8 | key.data[3];
}

/* What stands at the end of a key: of one that key_split accepted, or at least
 * has as many bytes. A kind that was not checked may be any byte. */
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

/* The buf of r, empty. It may not be released, nor outlive r. */
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
 * an empty result stands for no upper bound. prefix must not lie in b. 0 or
 * -ENOMEM.
 */
int key_successor(struct bytes prefix, struct buf *b);

#endif
