#ifndef TOOLS_SERVE_DATA_WIRE_ROW_H
#define TOOLS_SERVE_DATA_WIRE_ROW_H

#include "store/cell.h"

/*
 * The answer of ReadModifyWriteRow, which is as large as the new values, made
 * of them where they are: there is no second copy. cells are in scan order, one
 * a column; their values lie one behind the other in memory, and are its
 * content, which the message replaces. 0 or -ENOMEM.
 */
int wire_row(struct bytes key, const struct cell *cells, size_t count,
	     struct buf *memory);

/* How much the message may have besides the key, and of each cell its value,
 * its names and 48 bytes. */
#define WIRE_ROW_EXTRA 32

#endif
