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

/* As cursor_open. */
int rows_open(struct engine *e, const struct engine_snapshot *snapshot,
	      struct bytes start, struct bytes end, struct rows **out);
void rows_close(struct rows *r);
/* 1 with the row's prefix, valid until the next call; 0 at the end; negative on
 * error, then only close is allowed. */
int rows_next(struct rows *r, struct bytes *row);
/* The first row at or after the encoded key. */
int rows_seek(struct rows *r, struct bytes key, struct bytes *row);

#endif
