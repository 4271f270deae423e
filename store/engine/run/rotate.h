#ifndef STORE_ENGINE_RUN_ROTATE_H
#define STORE_ENGINE_RUN_ROTATE_H

#include "store/engine/core/state.h"

/*
 * Starts a new log and a memtable with an arena of at least need bytes, at most
 * UINT32_MAX; 0: as is usual. The present one waits for its flush. The old log
 * is finished and durable then. Needs commit, and a place among the memtables
 * that wait; takes sync, edits and lock. After a failure the present log and
 * memtable go on, unless the store is read-only.
 */
int engine_rotate(struct engine *e, size_t need);

/* A new log, the id of which it sets, durable under its name, and with some
 * held room if there is any: on a full disk it takes a piece. Nothing names it
 * yet. */
int engine_new_log(struct engine *e, uint64_t *id, struct wal **out);

#endif
