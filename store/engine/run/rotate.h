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

/* Bytes of the next memtable's arena: a log takes as much of the disk again,
 * and up to three are there at once, which is to be little beside the data.
 * Takes lock. */
size_t engine_arena_size(struct engine *e);

/* If a writer has found the memtable nearly full: makes the next log, and syncs
 * the present one, so that a rotation, for which all writers wait, has less to
 * do. Takes sync and lock; by one thread at a time, which has work. 0, or an
 * error of the sync, after which the store is read-only. */
int engine_rotate_ahead(struct engine *e);

/* The log that was made ahead goes, if there is one. When the store closes. */
void engine_drop_next_log(struct engine *e);

/* A new log, the id of which it sets, durable under its name, and with some
 * held room if there is any: on a full disk it takes a piece. Nothing names it
 * yet. */
int engine_new_log(struct engine *e, uint64_t *id, struct wal **out);

#endif
