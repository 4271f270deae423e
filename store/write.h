#ifndef STORE_WRITE_H
#define STORE_WRITE_H

#include "store/cell.h"

/* Stands for the time of the commit. */
#define STORE_NOW UINT64_MAX

struct store;
struct large;
struct scan;

/*
 * Writes. A write collects mutations of one or many rows, which commit
 * together, all or nothing, in the order they were added. Each call below
 * checks its arguments and, on an error, adds nothing.
 */
struct write;

int write_new(struct store *s, struct write **out);
void write_free(struct write *w);
/* Forgets what was collected. */
void write_reset(struct write *w);
size_t write_count(const struct write *w); /* mutations so far */
size_t write_size(const struct write *w);  /* bytes so far */
/* A mark to return to, so that a row that turns out wrong leaves nothing. */
struct write_mark {
	size_t data_size, now_size;
	uint32_t count, range_count, blob_count, hidden_count;
};

struct write_mark write_mark(const struct write *w);
void write_rewind(struct write *w, struct write_mark mark);

/* The mutations that follow are of this row. -ERR_no_table, row_key_*. */
int write_row(struct write *w, struct bytes table, struct bytes row);
/* timestamp may be STORE_NOW: the time of the commit, the same for all.
 * -ERR_no_family, bad_timestamp, qualifier_too_long, value_too_large,
 * type_mismatch for an aggregate family. */
int write_set(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, struct bytes value);
/* The same with a large value, of which nothing is copied. */
int write_set_large(struct write *w, struct bytes family,
		    struct bytes qualifier, uint64_t timestamp_us,
		    struct large *value);
/* The same with the value of a cell that a scan has given last. */
int write_set_cell(struct write *w, struct bytes family, struct bytes qualifier,
		   uint64_t timestamp_us, struct scan *scan,
		   const struct cell *cell);
/*
 * Of an aggregate family: Bigtable's AddToCell and MergeToCell. A number, or a
 * state as it is read, is merged into that of the version with this timestamp,
 * which is as if nothing had been added before if there is none. What a state
 * is says aggregate.h. Errors as above; -ERR_type_mismatch for a family that is
 * not of an aggregate type, or bytes that are no state of its.
 */
int write_add(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, int64_t number);
int write_merge(struct write *w, struct bytes family, struct bytes qualifier,
		uint64_t timestamp_us, struct bytes state);
/* Versions with from <= timestamp < to; to 0 is unbounded. -ERR_bad_timestamp
 * if from >= to. A missing column is no error, an unknown family is. */
int write_delete_cells(struct write *w, struct bytes family,
		       struct bytes qualifier, uint64_t from_us,
		       uint64_t to_us);
int write_delete_column(struct write *w, struct bytes family,
			struct bytes qualifier);
int write_delete_family(struct write *w, struct bytes family);
int write_delete_row(struct write *w);
/* All rows with the prefix, whatever write_row said. An empty one is refused,
 * -ERR_bad_argument, so that a slip does not empty a table. */
int write_delete_prefix(struct write *w, struct bytes table,
			struct bytes prefix);
/* All rows with start <= key < end; each may be empty: open. With both empty,
 * all rows of the table. */
int write_delete_range(struct write *w, struct bytes table, struct bytes start,
		       struct bytes end);

/* Commits w and empties it. With sync, durable on return. A table or family
 * dropped meanwhile: -ERR_no_table, -ERR_no_family, and nothing is written. */
int store_commit(struct store *s, struct write *w, bool sync);

#endif
