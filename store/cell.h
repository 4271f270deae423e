#ifndef STORE_CELL_H
#define STORE_CELL_H

#include "store/aggregate.h"

/*
 * One version of a column, as cursors and scans give it. Its bytes are borrowed
 * from whoever gave it, until the next call on that.
 */
struct cell {
	struct bytes row, family, qualifier;
	uint64_t timestamp_us;
	uint64_t seq;
	struct bytes value;
	struct bytes blob; /* not empty: value is, and this refers to it */
	enum aggregate_kind aggregate; /* of the family: value is a state */
};

/* The size of its value, be it large or not. */
uint64_t cell_size(const struct cell *c);

/* How far a cursor or scan goes on. */
enum cursor_step {
	CURSOR_ROW,     /* first cell of the next row */
	CURSOR_FAMILY,  /* first cell of the next family or row */
	CURSOR_COLUMN,  /* newest version of the next column */
	CURSOR_VERSION, /* the next version */
};

#endif
