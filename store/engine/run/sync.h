#ifndef STORE_ENGINE_RUN_SYNC_H
#define STORE_ENGINE_RUN_SYNC_H

#include "store/engine/core/engine.h"

/* Makes durable what was visible before the call. After -ENOSPC nothing is lost
 * and it may be tried again; another failure makes the store read-only: what of
 * it is on disk is not known any more. */
int engine_sync(struct engine *e);

/* Makes durable what is in the log, and before that the chunks that it refers
 * to. By who keeps the log from being replaced: he has commit or holds off
 * syncs, or is counted among those. What an error means is the caller's, see
 * engine_sync_failed. */
int engine_sync_log(struct engine *e);

/* Waits until no sync is under way, and keeps others from beginning until
 * engine_sync_let_go: then the log may be replaced. Takes sync. */
void engine_sync_hold(struct engine *e);
void engine_sync_let_go(struct engine *e);

#endif
