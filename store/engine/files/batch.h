#ifndef STORE_ENGINE_FILES_BATCH_H
#define STORE_ENGINE_FILES_BATCH_H

#include "store/base/buf.h"
#include "store/format/blob.h"
#include "store/format/key.h"

/*
 * A batch: changes that become visible and durable together. It is a byte
 * string, and that string is a record of the log:
 *
 *   varint first seq | varint record count | record*
 *   record = u8 kind | varint size, key | varint size, value
 *
 * For KEY_PUT, KEY_BLOB, KEY_MERGE and KEY_DELETE the key is a version key
 * (key.h), and the delete's value is empty. For BATCH_RANGE the key is the
 * start and the value the end of a range tombstone. The n-th record has
 * sequence first + n, counted from 0.
 *
 * In logs of format 1 both are fixed: u64, u32.
 *
 * One thread at a time uses a batch.
 */

/* Before the first record of a batch that is made there is room for the two. */
#define BATCH_HEADER_SIZE 12

/* A kind of record beside those of keys. It is what KEY_ has left free. */
#define BATCH_RANGE 2

/* What one request may hold. It has to fit into a memtable of its own. */
#define BATCH_RECORDS_MAX 100000
#define BATCH_SIZE_MAX (UINT32_C(256) << 20)

struct batch {
	struct buf data; /* empty, or header and records */
	size_t start;    /* of the records, if there are any */
	uint32_t count;
	uint32_t range_count; /* records of BATCH_RANGE */
	uint32_t blob_count;  /* records of KEY_BLOB */
};

#define BATCH_INIT                   \
	{                            \
		BUF_INIT, 0, 0, 0, 0 \
	}

/* A record, borrowed from its batch. */
struct batch_record {
	uint8_t kind; /* an enum key_kind or BATCH_RANGE */
	struct bytes key;
	struct bytes value;
};

/* Frees its memory; then it is empty and may be filled again. */
void batch_release(struct batch *b);

/* Empties it and keeps the memory for what comes next. */
void batch_reset(struct batch *b);

/* Adds one record, the bytes of which are copied: 0, -ENOMEM or
 * -ERR_batch_too_large, and after an error b is as before. The key is not
 * checked: whoever makes it sees to that. */
int batch_put(struct batch *b, struct bytes version_key, struct bytes value);

/* As batch_put, of a large value: list is its encoded references (blob.h), and
 * their chunks must be written before the batch is. */
int batch_put_blob(struct batch *b, struct bytes version_key,
		   struct bytes list);

/* As batch_put, of a state to be merged with what is there (KEY_MERGE). */
int batch_merge(struct batch *b, struct bytes version_key, struct bytes state);

/* As batch_put: this one version is deleted. */
int batch_delete(struct batch *b, struct bytes version_key);

/* As batch_put: everything in [start, end) is deleted. A range must not be
 * empty: -ERR_bad_argument. */
int batch_delete_range(struct batch *b, struct bytes start, struct bytes end);

/* The record that fills the place of a bulk load in the log, so that no
 * sequence is missing when it is replayed: the deletion of a version that never
 * is. As batch_put. */
int batch_mark(struct batch *b);

/* Whether b is such a record alone: 1, 0 or -ENOMEM. */
int batch_is_mark(const struct batch *b);

/* Adds all records of other; after an error some may have been added. */
int batch_append(struct batch *b, const struct batch *other);

/* Writes count and seq before the records: what is to be logged, borrowed from
 * b, which must not be empty. */
struct bytes batch_seal(struct batch *b, uint64_t seq);

/* A log record as a batch that borrows it, and its first seq; with is_old, of a
 * log of format 1. Checks every record, so that what is made of it may take
 * keys for valid; -ERR_wal_malformed. Do not release it. */
int batch_parse(struct bytes record, bool is_old, struct batch *b,
		uint64_t *seq);

/* Steps through a batch: start with *position 0; false after the last. The
 * record is valid until b changes. */
bool batch_next(const struct batch *b, size_t *position,
		struct batch_record *record);

/* Calls each with where every large value of b is, until it returns other than
 * 0, which is returned; else 0, -ENOMEM or -ERR_blob_damaged. */
int batch_each_large(const struct batch *b,
		     int (*each)(void *context, const struct blob_list *list),
		     void *context);

#endif
