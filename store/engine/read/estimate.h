#ifndef STORE_ENGINE_READ_ESTIMATE_H
#define STORE_ENGINE_READ_ESTIMATE_H

#include "store/engine/core/engine.h"

/*
 * About how many rows have entries in [start, end), encoded keys; an empty end
 * is unbounded. From what files say of themselves and a pass through the
 * memtables: a row counts once for each that holds something of it, and rows
 * that are hidden count as well.
 */
int engine_estimate_rows(struct engine *e, struct bytes start, struct bytes end,
			 uint64_t *rows);

/*
 * Rows that part [start, end) into pieces with about as much data each, that of
 * a file: calls each with their prefixes, in order, and the bytes stored before
 * each, then with an empty prefix and the bytes of all. Memtables do not count.
 */
int engine_sample_rows(struct engine *e, struct bytes start, struct bytes end,
		       int (*each)(void *context, struct bytes row,
				   uint64_t size),
		       void *context);

#endif
