#ifndef STORE_ENGINE_RUN_SYNC_H
#define STORE_ENGINE_RUN_SYNC_H

#include "store/engine/core/engine.h"

/* Makes durable what was visible before the call. A failure makes the store
 * read-only: what of it is on disk is not known any more. */
int engine_sync(struct engine *e);

/* Makes durable what is in the log, and before that the chunks that it refers
 * to. Needs sync. After an error the caller makes the store read-only. */
int engine_sync_log(struct engine *e);

#endif
