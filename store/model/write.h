#ifndef STORE_MODEL_WRITE_H
#define STORE_MODEL_WRITE_H

#include "store/engine/files/batch.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/pending.h"
#include "store/model/model.h"

/*
 * Writes are encoded as they are collected: a write is a batch, what has to be
 * patched into it at commit, and the schema it was checked against. If that
 * has changed by then, the records are checked once more. This is what bulk
 * loads and updates see of a write; the rest is store/write.h. A write belongs
 * to one thread at a time and needs no lock until it commits.
 */

/* A column that loses single versions; see commit.h. */
struct hidden_column {
	size_t start, size; /* of its column prefix in prefixes */
	bool ranked;        /* a rule hides versions by their rank */
};

struct write {
	struct store *s;
	struct schema *schema; /* referenced; what the adds were checked with */
	bool stale;            /* an earlier add was checked with another */
	struct batch batch;
	size_t moved;   /* bytes of small values that it has in files */
	size_t counted; /* bytes of batch, as MEMORY_REQUESTS */

	/* The present row: key holds its table and row prefix, of row_end
	 * bytes, then what the add needs. */
	struct buf key;
	size_t row_end; /* 0: no row yet */
	uint32_t table_id;
	const struct table *table;   /* of schema; NULL: none yet */
	const struct family *family; /* last used; of schema; or NULL */
	bool in_millis;              /* see write_earlier */
	uint32_t earlier_ms;
	uint64_t after_us; /* see write_follow; 0: after nothing */

	struct buf now_places;   /* u64 each: see write_note */
	struct blob_holds holds; /* what its large values refer to */
	struct buf references;   /* of one, encoded */

	struct buf prefixes; /* of columns that lose versions */
	struct hidden_column *hidden;
	size_t hidden_count, hidden_room;
	bool holds_time;   /* as GC_HELD_BY_WRITE, until commit_end */
	bool is_uncounted; /* see write_uncounted */

	/* Of an update: its time, else STORE_NOW; what write_view shows; the
	 * values of cells modified. */
	uint64_t now_us;
	struct pending pending;
	struct buf memory;
};

/* Puts the column's prefix into w->key and sets w->family. A row was named.
 * -ERR_no_family, -ERR_qualifier_too_long, -ENOMEM; -ERR_bad_argument without a
 * row. */
int write_column(struct write *w, struct bytes family, struct bytes qualifier);

/* As write_column, but refuses aggregate families: -ERR_type_mismatch. */
int write_plain_column(struct write *w, struct bytes family,
		       struct bytes qualifier);

/* The time of an update as its present table takes it. */
uint64_t write_now(const struct write *w);

/* -ERR_bad_timestamp of one that the table, as it is now, does not take. */
int write_check_timestamp(const struct table *table, uint64_t timestamp_us);

/* -ERR_value_too_large beyond STORE_VALUE_MAX. */
int write_check_size(uint64_t size);

/* A timestamp that is that of the commit: where it is in the batch, which is
 * below 2^30, how much before the commit, and whether in milliseconds
 * because its table has those, or in any case. */
#define WRITE_NOTE_TABLE 1
#define WRITE_NOTE_ALWAYS 2
static inline uint64_t write_note(uint64_t place, uint32_t earlier_ms,
				  unsigned int millis)
{
	return (uint64_t)earlier_ms << 32 | place << 2 | millis;
}

/* The millisecond of a time, or so many before it. */
static inline uint64_t write_millis(uint64_t us, uint64_t earlier_ms)
{
	uint64_t ms = us / 1000;

	return 1000 * (ms > earlier_ms ? ms - earlier_ms : 0);
}

static inline size_t write_note_place(uint64_t note)
{
	return (uint32_t)note >> 2;
}

/* Fails with -ERR_no_family. */
int write_unknown_family(struct bytes name);

#endif
