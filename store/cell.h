#ifndef STORE_CELL_H
#define STORE_CELL_H

#include "store/aggregate.h"

/*
 * One version of a column, as reads give it. Its bytes are borrowed from
 * whoever gave it, until the next call on that, unless that says otherwise.
 */
struct cell {
	struct bytes row, family, qualifier;
	uint64_t timestamp_us;
	uint64_t seq; /* of the write that made it; 0 if it is not known */
	struct bytes value;
	/* Not empty: value is, and this refers to it; only the store can read
	 * it, see scan_load and scan_open_large. */
	struct bytes blob;
	enum aggregate_kind aggregate; /* of the family: value is a state */
};

/* The bytes of its value, be it large or not. */
uint64_t cell_size(const struct cell *c);

/* How far a cursor or scan goes on, the longest way first: a smaller number
 * skips at least what a larger one does. */
enum cursor_step {
	CURSOR_ROW,     /* first cell of the next row */
	CURSOR_FAMILY,  /* first cell of the next family or row */
	CURSOR_COLUMN,  /* newest version of the next column */
	CURSOR_VERSION, /* the next version */
};

#endif
