#ifndef STORE_WRITE_H
#define STORE_WRITE_H

#include "store/cell.h"

/*
 * Writes. A write collects mutations of one or many rows, which commit
 * together, all or nothing, in the order they were added: write_row names a
 * row, the calls after it change that. Each call checks its arguments and, on
 * an error, adds nothing. One thread at a time uses a write.
 *
 * Errors of all that add: -ERR_batch_too_large beyond STORE_MUTATIONS_MAX
 * mutations or 256 MiB, -ERR_bad_argument if no row was named, -ENOMEM.
 */
struct store;
struct large;
struct scan;
struct write;

/* A timestamp that stands for the time of the commit, the same for all of it;
 * cut to milliseconds where the table has those. */
#define STORE_NOW UINT64_MAX
/* That time, if the commit were now: the clock's, in microseconds, but none
 * before the latest by which the store has ever judged ages. A version of an
 * earlier one might have expired when it is written, if the clock was ahead
 * once. Without a lock. */
uint64_t store_now(const struct store *s);

/* An empty write on s, to be freed before s is closed. 0 or -ENOMEM. */
int write_new(struct store *s, struct write **out);

/* What was not committed is gone. NULL is allowed. */
void write_free(struct write *w);

/* Forgets what was collected, and which row was named. */
void write_reset(struct write *w);

size_t write_count(const struct write *w); /* mutations so far */
size_t write_size(const struct write *w);  /* bytes so far */

/* A place in a write to return to, so that a row that turns out wrong leaves
 * nothing. Good until the write is reset, committed, or rewound to an earlier
 * one. */
struct write_mark {
	size_t data_size, moved_size, now_size;
	uint32_t count, range_count, blob_count, hidden_count;
};

struct write_mark write_mark(const struct write *w);

/* Forgets what was added since mark was taken; the next call names a row. */
void write_rewind(struct write *w, struct write_mark mark);

/* The id of the table whose row was named last, which a name may not have any
 * more when the next is named. */
uint32_t write_table_id(const struct write *w);

/* The mutations that follow are of this row. -ERR_no_table, row_key_empty,
 * row_key_too_long; no row is named then. */
int write_row(struct write *w, struct bytes table, struct bytes row);

/* Until a row is named, STORE_NOW is in milliseconds, whatever the table has,
 * and so many before the commit: so that what the same write sets again is a
 * version of its own, and newer. (Never behind the commit: what is written next
 * would be hidden.) A row was named. */
void write_earlier(struct write *w, uint32_t ms);

/* What is set at STORE_NOW in milliseconds in the row that was named is to be
 * later than what others, whose times are finer, wrote there before this call:
 * the commit is to wait for write_wait_us microseconds then, 1,000 at most and
 * mostly 0. */
void write_follow(struct write *w);
uint64_t write_wait_us(const struct write *w);

/* Sets a cell: a version of a column. timestamp_us may be STORE_NOW.
 * -ERR_no_family, bad_timestamp, qualifier_too_long, value_too_large,
 * type_mismatch for an aggregate family. A large value is written to disk here,
 * before the commit. */
int write_set(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, struct bytes value);

/* As write_set with a large value, of which nothing is copied. w holds what it
 * refers to; the caller's reference may be put at once. */
int write_set_large(struct write *w, struct bytes family,
		    struct bytes qualifier, uint64_t timestamp_us,
		    struct large *value);

/* As write_set with the value of the cell that scan has given last; that of an
 * aggregate family is merged, as write_merge does. */
int write_set_cell(struct write *w, struct bytes family, struct bytes qualifier,
		   uint64_t timestamp_us, struct scan *scan,
		   const struct cell *cell);

/*
 * Of an aggregate family: Bigtable's AddToCell and MergeToCell. A number, one
 * or more numbers as one change, or a state as it is read, is merged into that
 * of the version with this timestamp, which is as if nothing had been added
 * before if there is none. What a state is says aggregate.h. Errors as of
 * write_set, but that -ERR_type_mismatch is for a family that is not of an
 * aggregate type, or bytes that are no state of its.
 */
int write_add(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, int64_t number);
int write_add_all(struct write *w, struct bytes family, struct bytes qualifier,
		  uint64_t timestamp_us, const int64_t *numbers, size_t count);
int write_merge(struct write *w, struct bytes family, struct bytes qualifier,
		uint64_t timestamp_us, struct bytes state);

/* Deletes versions with from <= timestamp < to; to 0 is unbounded.
 * -ERR_bad_timestamp if from >= to. A missing column is no error, an unknown
 * family is. */
int write_delete_cells(struct write *w, struct bytes family,
		       struct bytes qualifier, uint64_t from_us,
		       uint64_t to_us);

/* Deletes all that there is of the column, family or row, and what was set in
 * it earlier in w. */
int write_delete_column(struct write *w, struct bytes family,
			struct bytes qualifier);
int write_delete_family(struct write *w, struct bytes family);
int write_delete_row(struct write *w);

/* Deletes all rows with the prefix; no row is named any more. An empty prefix
 * is refused, -ERR_bad_argument, so that a slip does not empty a table. */
int write_delete_prefix(struct write *w, struct bytes table,
			struct bytes prefix);

/* Deletes all rows with start <= key < end; each may be empty: open. With both
 * empty, all rows of the table, or -EPERM if that is protected, see
 * STORE_PROTECTED. No row is named any more. */
int write_delete_range(struct write *w, struct bytes table, struct bytes start,
		       struct bytes end);

/* Another number than before if something was removed from the row since: by a
 * deletion, be it of a version, of rows or a family, but not by age, and not by
 * writes that are uncounted. Rarely also if it was not. */
uint32_t store_removals(struct store *s, uint32_t table_id, struct bytes row);

/* Whoever goes by store_removals knows of what w removes. */
void write_uncounted(struct write *w);

/* Commits w and empties it, also on failure. With sync, it is durable on
 * return, and without it survives a kill of the process; if that alone fails, w
 * is seen all the same. A table or family dropped meanwhile: -ERR_no_table,
 * -ERR_no_family, and nothing is written. */
int store_commit(struct store *s, struct write *w, bool sync);

/* The same, for one of many: it waits for nothing, and whoever says that they
 * are done calls store_settle, or store_sync, first. */
int store_commit_more(struct store *s, struct write *w);

#endif
