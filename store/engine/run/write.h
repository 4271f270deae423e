#ifndef STORE_ENGINE_RUN_WRITE_H
#define STORE_ENGINE_RUN_WRITE_H

#include "store/engine/core/engine.h"
#include "store/engine/core/state.h"

/*
 * Commits batch, whose records become visible together. On return 0 it is in
 * the log as far as the operating system; with sync it is durable. *seq, if not
 * NULL, is the sequence of its last record. -ENOSPC when the log cannot grow,
 * or the trouble that flushes have when the memory for what waits for them is
 * used up: nothing was written, and it may be tried again. -ERR_store_readonly
 * after an earlier failure to log.
 */
int engine_write(struct engine *e, struct batch *batch, bool sync,
		 uint64_t *seq);

/* Makes durable what was written before. */
int engine_sync(struct engine *e);
uint64_t engine_visible_seq(struct engine *e);

/* Appends a sealed batch to the log, after the mark that it may lack. Needs
 * commit. */
int engine_log(struct engine *e, const struct batch *batch);

/* Makes durable what is in the log, and before that what it refers to. Needs
 * sync. */
int engine_sync_log(struct engine *e);

/* Tells the background, if there is one, that there may be work. */
void engine_wake(struct engine *e);

#endif
