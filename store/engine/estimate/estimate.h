#ifndef STORE_ENGINE_ESTIMATE_ESTIMATE_H
#define STORE_ENGINE_ESTIMATE_ESTIMATE_H

#include "store/engine/core/engine.h"

/*
 * What can be told of a key range without reading it. [start, end) are encoded
 * keys; an empty end is unbounded. Both calls hold references on the files they
 * ask, and no lock.
 */

/*
 * About how many rows have entries in [start, end). From what files say of
 * themselves, to a block, and a pass through the memtables: a row counts once
 * for each that holds something of it. What range tombstones of rows and of
 * ranges hide does not count; other rows that are hidden do. 0, -ENOMEM, or an
 * error of reading an index.
 */
int engine_estimate_rows(struct engine *e, struct bytes start, struct bytes end,
			 uint64_t *rows);

/*
 * Rows that part [start, end) into pieces with about as much data each, that of
 * a file: calls each with their prefixes, in ascending order, and the bytes
 * stored before each, then once with an empty prefix and the bytes of all.
 * Of files that reach beyond the range the part counts that is in it, to a
 * block; memtables do not count. A prefix is valid during the call. -ENOMEM, or
 * an error of reading an index; a result of each that is not 0 ends it and is
 * returned.
 */
int engine_sample_rows(struct engine *e, struct bytes start, struct bytes end,
		       int (*each)(void *context, struct bytes row,
				   uint64_t size),
		       void *context);

#endif
