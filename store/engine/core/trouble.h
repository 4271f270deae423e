#ifndef STORE_ENGINE_CORE_TROUBLE_H
#define STORE_ENGINE_CORE_TROUBLE_H

#include "store/engine/core/engine.h"
#include "store/engine/core/state.h"

/* 0, or why it cannot take writes for ever, if nothing changes: an error that
 * made it read-only, or the trouble that background work has. */
int engine_health(struct engine *e);

/* Makes the store read-only because of err, once; returns err. */
int engine_poison(struct engine *e, int err);

/* 0 if it holds; else the store is read-only, and it is -ERR_invariant. See
 * invariant(). Takes lock. */
__attribute__((format(printf, 3, 4))) int engine_invariant(struct engine *e,
							   bool holds,
							   const char *what,
							   ...);

/* Background work failed and has published nothing: it will be tried again, or
 * the store is read-only if err cannot pass. Returns err. */
int engine_work_failed(struct engine *e, int err);
void engine_work_done(struct engine *e);

/* 0, or -ERR_store_readonly with the reason. */
int engine_writable(struct engine *e);

/* 0, or the trouble that background work has. */
int engine_no_room(struct engine *e);

#endif
