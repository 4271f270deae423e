#ifndef STORE_ENGINE_RUN_OPEN_H
#define STORE_ENGINE_RUN_OPEN_H

#include "store/engine/core/engine.h"

void engine_options_init(struct engine_options *o);

/* What recovery had to say, for people: how many records were replayed and
 * whether a torn tail was cut. Empty when there is nothing to tell. */
int engine_open(struct volume *v, const struct engine_options *o,
		struct engine **out);
const char *engine_recovery_text(const struct engine *e);

/* Flushes, if there is much to, and syncs and ends the log cleanly. Everything
 * written is durable when it returns 0, whether or not there was room to flush.
 * Ends e in every case; the volume stays the caller's. */
int engine_close(struct engine *e);

/* Ends e as if the process had died: nothing is synced. For tests. */
void engine_abandon(struct engine *e);

#endif
