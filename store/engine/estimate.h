#ifndef STORE_ESTIMATE_H
#define STORE_ESTIMATE_H

#include "store/engine/engine.h"

/*
 * About how many rows have entries in [start, end), encoded keys; an empty end
 * is unbounded. From what files say of themselves and a pass through the
 * memtables: a row counts once for each that holds something of it, and rows
 * that are hidden count as well.
 */
int engine_estimate_rows(struct engine *e, struct bytes start, struct bytes end,
			 uint64_t *rows);

#endif
