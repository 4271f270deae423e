#ifndef STORE_ENGINE_READ_STATISTICS_H
#define STORE_ENGINE_READ_STATISTICS_H

#include "store/engine/core/engine.h"
#include "store/stats.h"

/*
 * Figures of a running engine: what it holds now, and counters since it was
 * opened. Each is right by itself, but they are not of one moment. Takes sync,
 * edits and lock, so none of them may be held; it waits for a sync of the log
 * that is under way. Without memory for it, blob_garbage is told as 0.
 */
void engine_stats(struct engine *e, struct store_stats *out);

/* As store_sync_times. */
const struct histogram *engine_sync_times(struct engine *e);

/* The engine's own accounts and what others take beside them. */
struct memory *engine_memory(struct engine *e);

#endif
