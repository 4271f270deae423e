#ifndef STORE_ENGINE_RUN_UNIT_H
#define STORE_ENGINE_RUN_UNIT_H

#include "store/engine/core/state.h"

/* The units of background work that change which ssts there are. */

/* Flushes the memtable that has waited longest: 1, or 0 if none does. Needs
 * work, save while the store is opened. */
int engine_flush_oldest(struct engine *e);

/* Runs compaction c, which was picked for v, the present version; why is told.
 * Memtables that come to wait meanwhile are flushed in between. Needs work, so
 * that nobody else changes which ssts there are. 0 or a negative error. */
int engine_merge(struct engine *e, struct version *v,
		 const struct compaction *c, const char *why);

/* Flushes go before other work that is under way: writers wait for them. For
 * merge_context: context is a struct engine. Needs work. */
int engine_yield(void *context);

/* Forgets the logs with an id before oldest_log by applying edit, which may say
 * more, then removes their files. flushed, if not NULL: see engine_apply_flush.
 * Takes edits and lock, not work. After a failure nothing of edit has happened,
 * unless the store is read-only. */
int engine_drop_logs(struct engine *e, struct edit *edit, uint64_t oldest_log,
		     struct memtable *flushed);

#endif
