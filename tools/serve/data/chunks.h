#ifndef TOOLS_SERVE_DATA_CHUNKS_H
#define TOOLS_SERVE_DATA_CHUNKS_H

#include "store/cell.h"
#include "store/base/buf.h"

/*
 * The cells of a ReadRowsResponse, one chunk each, encoded as they come: the
 * key of a row, a family and a qualifier stand where they change, and the last
 * chunk of a row commits it. Zeroed, it is ready.
 */
struct chunks {
	struct buf message; /* the response so far, of whole rows and one that
			       is begun */
	struct buf names;   /* row, family and qualifier of the last cell */
	size_t row_size, family_size;
	size_t row_start; /* where the begun row begins in message */
	size_t last;      /* where the length of the last chunk is */
	bool in_row;
};

void chunks_release(struct chunks *c);

/* Whether the cell is of the row that is begun. */
bool chunks_same_row(const struct chunks *c, struct bytes row);

/* Adds a cell, with its label if that is not empty, of the row that is begun or
 * of a new one. 0 or -ENOMEM. A value without data is to be written where it
 * belongs: it is the last of message. */
int chunks_add(struct chunks *c, const struct cell *cell, struct bytes label);

/* The row is whole. 0 or -ENOMEM. */
int chunks_commit(struct chunks *c);

/* Forgets the row that is begun. */
void chunks_drop(struct chunks *c);

#endif
