#ifndef STORE_ENGINE_CORE_TROUBLE_H
#define STORE_ENGINE_CORE_TROUBLE_H

#include "store/engine/core/engine.h"
#include "store/engine/core/state.h"

/*
 * What a failure makes of the store: it is read-only until it is opened again,
 * or it has trouble, which may pass. Any thread may call these, holding any
 * lock but `lock`, which they take.
 */

/* Makes the store read-only because of err, with err_detail() as the reason;
 * the first reason stays. Wakes those who wait. Returns err, which is negative.
 */
int engine_poison(struct engine *e, int err);

/* As engine_poison, of a sync that failed: but for lack of space nothing is
 * lost, and it is trouble of its own, until engine_synced: the log, and the
 * chunks that it refers to, were synced. */
int engine_sync_failed(struct engine *e, int err);
void engine_synced(struct engine *e);

/* Makes the store read-only because another holder has its volume; engine is a
 * struct engine. For lease_take. */
void engine_lost(void *engine);

/* 0 if it holds; else the store is read-only, and it is -ERR_invariant. what
 * says what is wrong; see invariant(). */
__attribute__((format(printf, 3, 4))) int engine_invariant(struct engine *e,
							   bool holds,
							   const char *what,
							   ...);

/* Background work failed and has published nothing: it will be tried again, or
 * the store is read-only if err cannot pass. Returns err. */
int engine_work_failed(struct engine *e, int err);

/* A unit of it succeeded: there is no trouble any more. Wakes those who wait.
 */
void engine_work_done(struct engine *e);

/* Tells the background, if there is one, that there may be work. */
void engine_wake(struct engine *e);

/* Something was refused for lack of room on the disk: the background looks for
 * what can be given back. */
void engine_want_room(struct engine *e);

/* 0, or -ERR_store_readonly with the reason, for whoever is about to write. */
int engine_writable(struct engine *e);

/* 0, or the trouble that background work has, with the reason, for whoever
 * needs the room that it would make. */
int engine_no_room(struct engine *e);

/* 0, or why it cannot take writes for ever, if nothing changes: what
 * engine_writable says or else engine_no_room, or of a sync without space. A
 * store opened for reading only is healthy. */
int engine_health(struct engine *e);

#endif
