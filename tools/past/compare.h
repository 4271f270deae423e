#ifndef TOOLS_PAST_COMPARE_H
#define TOOLS_PAST_COMPARE_H

#include "store/text/print/moment.h"

/*
 * A table at two moments, cell by cell: what only one of them has, and versions
 * whose values differ. Both are read in the order of rows at once, and what is
 * the same is passed over.
 */
enum { COMPARE_OLD, COMPARE_NEW, COMPARE_SIDES };

/* One of the moments. */
struct compare_side {
	struct moment moment;      /* owned */
	const struct table *table; /* of its schema */
	struct select *select;     /* borrowed: which rows */
	struct select_scan *scan;  /* owned */
	bool has;                  /* a cell, */
	struct cell cell;          /* borrowed from scan */
	struct buf value;          /* of one that is large */
};

struct compare {
	struct store *store;
	struct compare_side sides[COMPARE_SIDES];
	enum cursor_step step;

	/* What compare_next has found: a bit 1 << side for each that has such a
	 * cell, and for each that has its row. */
	unsigned int cell_sides, row_sides;
	struct buf row;
	uint64_t row_number; /* which changes with row */
};

#define COMPARE_ONLY_OLD (1u << COMPARE_OLD)
#define COMPARE_ONLY_NEW (1u << COMPARE_NEW)

/* Finds the table of this name at a moment, or, where that is NULL, now: as
 * store_table_id does. Takes moment over in every case. -ERR_no_table. x is
 * zeroed before the first of them; compare_close ends it in every case. */
int compare_take(struct compare *x, int side, struct store *s,
		 struct snapshot *moment, struct bytes table);

/* Begins to read the rows that select says, of which each side has its own;
 * they live until compare_close. */
int compare_begin(struct compare *x, struct select *of_old,
		  struct select *of_new);

/* The next difference: 1, 0 at the end, or an error. */
int compare_next(struct compare *x);

/* The next one is to be of another row: for a row that one side alone has. */
void compare_skip_row(struct compare *x);

/* The cell that was found. */
const struct cell *compare_cell(const struct compare *x);

void compare_close(struct compare *x);

#endif
