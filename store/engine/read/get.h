#ifndef STORE_ENGINE_READ_GET_H
#define STORE_ENGINE_READ_GET_H

#include "store/cell.h"
#include "store/engine/core/engine.h"
#include "store/large.h"

/*
 * A lookup of one column: what a cursor over it would give first, with less
 * work. Any thread, any number at once; takes some 80 KiB of stack.
 *
 * The newest visible version of the column with this encoded prefix, of at most
 * KEY_SIZE_MAX bytes: 1 with timestamp_us, seq, aggregate and value of *cell
 * set, not row, family and qualifier; 0 if there is none; or an error. The
 * value's bytes are appended to memory, which may move; column must not point
 * into it. A large value is not read: its references are appended to memory
 * instead, cell->blob is these, and *large is the value, to be put by
 * large_put. Else *large is NULL. snapshot NULL takes the present moment.
 */
int cursor_get(struct engine *e, const struct engine_snapshot *snapshot,
	       struct bytes column, struct cell *cell, struct buf *memory,
	       struct large **large);

/* The timestamp of that version alone, which takes no merging of an aggregate's
 * writes: 1, 0 or an error. */
int cursor_get_time(struct engine *e, const struct engine_snapshot *snapshot,
		    struct bytes column, uint64_t *timestamp_us);

#endif
