#ifndef STORE_ENGINE_BULK_BULK_MERGE_H
#define STORE_ENGINE_BULK_BULK_MERGE_H

#include "store/engine/bulk/bulk_run.h"

/* Replaces runs that overlap, two at least, by files that do not: of each
 * version key the put of the last run. beside: in two parts at a time. 0, or an
 * error after which they are still there. */
int runs_merge(struct engine *e, bool beside, struct run **runs, size_t *count);

#endif
