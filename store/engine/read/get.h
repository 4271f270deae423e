#ifndef STORE_ENGINE_READ_GET_H
#define STORE_ENGINE_READ_GET_H

#include "store/engine/read/cursor.h"

/*
 * The newest visible version of the column with this encoded prefix: 1 with
 * timestamp, seq and value of *cell set and the value's bytes added to memory,
 * which may move; 0 if there is none. As a cursor would find it, with less
 * work. column must not point into memory. A large value is not read but given
 * as *large, to be put; else that is NULL.
 */
int cursor_get(struct engine *e, const struct engine_snapshot *snapshot,
	       struct bytes column, struct cell *cell, struct buf *memory,
	       struct large **large);

#endif
