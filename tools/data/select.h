#ifndef TOOLS_DATA_SELECT_H
#define TOOLS_DATA_SELECT_H

#include "tools/verb/verb.h"

/*
 * What read and lookup show: which rows, columns and versions. Filled from
 * their arguments by select_parse; ended by select_release in every case.
 */
struct select_column {
	struct regex *family;    /* NULL: any */
	struct regex *qualifier; /* NULL: any */
};

struct select {
	struct buf start, end; /* rows start <= key < end; empty: open */
	bool nothing;          /* an empty range: there is nothing to read */
	struct regex *row;
	bool reversed;
	uint64_t row_limit; /* UINT64_MAX: none */
	uint64_t cell_limit;
	bool keys_only;
	bool stats;
	struct select_column *columns; /* none: all */
	size_t column_count;
	struct filter *filter; /* NULL: none; the rest is about what it gives */
};

/* Takes the arguments from argv[first]; those for ranges only if many. 0, or 1
 * after it said what is wrong. */
int select_parse(struct verb_call *c, int first, bool many, struct select *s);
void select_release(struct select *s);

/*
 * Prints what s selects of the scan as cbt does and counts what it saw and
 * gave back. An error is negative.
 */
struct select_counts {
	uint64_t rows_seen, rows_returned, cells_seen, cells_returned;
};

/* The first key behind all that begin with prefix; empty if there is none. */
int prefix_end(struct bytes prefix, struct buf *out);

#endif
