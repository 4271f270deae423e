#ifndef STORE_TEXT_DUMP_LOAD_ROWS_H
#define STORE_TEXT_DUMP_LOAD_ROWS_H

#include "store/store.h"

/*
 * Where the cells of a dump go: values into a bulk load, states of aggregates
 * by the log, as are values with commits. A zeroed struct with its store set is
 * ready; what it names is copied. After an error only load_rows_release is
 * allowed.
 */
struct load_rows {
	struct store *store; /* borrowed */
	bool commits;
	uint32_t table_id; /* the one that has the name; 0: whichever has */
	struct bulk_load *load;
	struct write *sets, *merges;
	bool sets_named, merges_named; /* the row is named in them */
	struct buf table, row, family, qualifier;
	bool aggregate; /* the family is one of aggregates */
	/* Of a value that comes in parts: */
	uint64_t timestamp_us, size, have; /* have == size: none */
	struct large_writer *writer;       /* owned, or NULL */
	uint32_t chunk;                    /* the index of the next */
	struct buf value; /* its bytes, or those of the next chunk */
};

void load_rows_release(struct load_rows *r);

/* The cells that follow are of this table, or row; or family, which there is.
 * 0, -ENOMEM, or what a commit fails with. */
int load_rows_table(struct load_rows *r, struct bytes table);
int load_rows_row(struct load_rows *r, struct bytes row);

/* A version of the present column. Errors as of write_set, write_merge and
 * store_commit. */
int load_rows_cell(struct load_rows *r, uint64_t timestamp_us,
		   struct bytes value);

/* As load_rows_cell, with a value of size bytes, of which load_rows_part then
 * gives all, in order and never more. */
int load_rows_begin(struct load_rows *r, uint64_t timestamp_us, uint64_t size);
int load_rows_part(struct load_rows *r, struct bytes part);

/* Writes all that was given. */
int load_rows_flush(struct load_rows *r);

#endif
