#ifndef STORE_TEXT_PRINT_PRINT_CELLS_H
#define STORE_TEXT_PRINT_PRINT_CELLS_H

#include "store/text/print/print.h"

/*
 * Cells of a selection with keep_large, printed one after another. A large
 * value of more than 1 MiB is printed in pieces. Zeroed but for the printer it
 * is ready; one thread at a time uses it.
 */
struct print_cells {
	struct printer *printer; /* owned */
	/* The present cell, which the printer has not taken as a whole, and its
	 * value if that is large, owned, or else what it is loaded into. */
	bool has_cell;
	struct cell cell;
	struct large *large;
	struct buf value;
	bool ended; /* the text is whole */
};

void print_cells_release(struct print_cells *c);

/* Appends what one more cell makes, or a part of it; after the last one what
 * ends the text, which then is ended. next gives the cells, which are those of
 * scan: 1, 0 at the end, or an error. 0 or an error. */
int print_cells_step(struct print_cells *c, struct select_scan *scan,
		     int (*next)(void *context, struct cell *cell),
		     void *context, struct buf *out);

/* Makes the present cell's value, if it has one that is the scan's, its own, so
 * that the scan may rest: names stay. 0 or -ENOMEM. */
int print_cells_keep(struct print_cells *c);

/* The present cell is not to be printed any more. */
void print_cells_leave(struct print_cells *c);

#endif
