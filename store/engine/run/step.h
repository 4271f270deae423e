#ifndef STORE_ENGINE_RUN_STEP_H
#define STORE_ENGINE_RUN_STEP_H

#include "store/engine/core/engine.h"
#include "store/engine/core/state.h"

/* One unit of background work: 1 if there was some, 0 if idle, or a negative
 * error. After -ENOSPC and the like nothing has changed and the next call tries
 * it again; after others, such as damage, the store is read-only. */
int engine_step(struct engine *e);

/* Flushes all memtables. */
int engine_flush(struct engine *e);

/* Flushes, then compacts [start, end) to the lowest level. */
int engine_compact_range(struct engine *e, struct bytes start,
			 struct bytes end);

/* Flushes the memtables that wait for it. */
int engine_flush_waiting(struct engine *e);

/* Forgets the logs before the one with this id by applying edit, then removes
 * them. */
int engine_drop_logs(struct engine *e, struct edit *edit, uint64_t oldest_log);

/* Removes one file that no version holds any more: 1, or 0 if there is none. */
int engine_remove_unused(struct engine *e);

#endif
