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

/* All of it owned. */
struct select {
	struct buf start, end; /* rows start <= key < end; empty: open */
	bool nothing;          /* an empty range: there is nothing to read */
	struct regex *row;     /* which row keys have to match; NULL: any */
	bool reversed;
	uint64_t row_limit;  /* UINT64_MAX: none */
	uint64_t cell_limit; /* versions of each column; UINT64_MAX: none */
	bool keys_only;      /* values are left out */
	bool stats;          /* a summary is wanted */
	struct select_column *columns; /* none: all */
	size_t column_count;
	struct filter *filter; /* NULL: none; the rest is about what it gives */
};

/* Takes the arguments from argv[first]; those for ranges of rows only if many.
 * 0, or 1 after it said what is wrong. */
int select_parse(struct verb_call *c, int first, bool many, struct select *s);
void select_release(struct select *s);

/* Sets out to the first key behind all that begin with prefix; empty if there
 * is none. 0 or -ENOMEM. */
int prefix_end(struct bytes prefix, struct buf *out);

#endif
