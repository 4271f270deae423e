#ifndef STORE_ENGINE_HISTORY_PAST_ITER_H
#define STORE_ENGINE_HISTORY_PAST_ITER_H

#include "store/format/iter.h"

/*
 * Shows an iterator over a history file's cells as a reader at seq is to see
 * them: without the parts of aggregates that another merge has taken in by
 * then, which the tree holds, and values without what says so (sst_is_past).
 * cells pass to it, also on failure, which is -ENOMEM.
 */
int past_iter_new(struct iter *cells, uint64_t seq, struct iter **out);

#endif
