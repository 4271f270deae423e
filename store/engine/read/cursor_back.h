#ifndef STORE_ENGINE_READ_CURSOR_BACK_H
#define STORE_ENGINE_READ_CURSOR_BACK_H

#include "store/engine/read/cursor.h"

/* Steps of a cursor to a row, backwards and to one that is known. */

/* The first cell of the last row before the encoded key, or before the range's
 * end if key is empty, that has a visible one. The range must have an end.
 * cursor_next goes on from there, forwards. */
int cursor_row_before(struct cursor *c, struct bytes key, struct cell *cell);

/* The first cell of the row with this prefix; 0 if it has none, which is found
 * out without looking at rows after it. */
int cursor_row_at(struct cursor *c, struct bytes row, struct cell *cell);

#endif
