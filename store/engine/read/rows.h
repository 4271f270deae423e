#ifndef STORE_ENGINE_READ_ROWS_H
#define STORE_ENGINE_READ_ROWS_H

#include "store/engine/core/engine.h"

/*
 * The rows of a key range that have a visible cell, in order, as of a snapshot:
 * what a cursor's steps of CURSOR_ROW would meet, without the cells. Rows are
 * told by the ssts' row directories; a row of which these do not prove that it
 * lives is looked at with a cursor. One thread uses it at a time.
 */
struct rows;

/* Over [start, end) of encoded keys that lie in no row; they are copied. An
 * empty end is unbounded. snapshot NULL takes the present moment, else it is
 * needed during the call only. On failure *out is NULL. */
int rows_open(struct engine *e, const struct engine_snapshot *snapshot,
	      struct bytes start, struct bytes end, struct rows **out);

/* NULL is allowed. */
void rows_close(struct rows *r);

/* As cursor_rest; the row given last stays until the next call. */
void rows_rest(struct rows *r);

/* As cursor_stop, of rows and of the cells that are looked at for them. */
void rows_stop(struct rows *r, bool (*stop)(void));

/* The next row, at first the first one: 1 with its encoded prefix, valid until
 * the next call; 0 at the end; negative on error, then only rows_close is
 * allowed. */
int rows_next(struct rows *r, struct bytes *row);

/* The first row at or after key, which must not lie in a row, as a row prefix
 * does not, but may lie out of range. Returns as rows_next, which goes on from
 * there. */
int rows_seek(struct rows *r, struct bytes key, struct bytes *row);

#endif
