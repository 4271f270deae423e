#ifndef STORE_ENGINE_RUN_WRITE_H
#define STORE_ENGINE_RUN_WRITE_H

#include "store/engine/core/engine.h"
#include "store/engine/run/sync.h"

/*
 * The way of a write: log, memtable, then seen. Writers take turns by the
 * commit lock; each call may come from any thread. Durable are only records
 * that a sync has covered: a write without one survives the process, since the
 * log is handed to the operating system, but not the machine.
 */

/*
 * Commits batch, whose records become visible together, and seals it. On return
 * 0 it is in the log as far as the operating system; with sync it is durable.
 * *seq, if not NULL, is the sequence of its last record; an empty batch sets
 * none. May wait for background work.
 *
 * -ENOSPC when the log cannot grow, or the trouble that flushes have when the
 * memory for what waits for them is used up; -ERR_batch_too_large if no
 * memtable can hold it; -ESTALE if a large value that it refers to is no more:
 * nothing was written, and it may be tried again. -ERR_store_readonly after an
 * earlier failure to log. If it is the sync that fails, the batch is visible
 * all the same, and the store read-only.
 */
int engine_write(struct engine *e, struct batch *batch, bool sync,
		 uint64_t *seq);

/* The sequence of the last write that a read from now on sees. */
uint64_t engine_visible_seq(struct engine *e);

/*
 * Called, with no lock of the engine held but perhaps commit, whenever there
 * may be work for engine_step. To be set once, before others use e: whether it
 * is decides whether a writer waits for the background or does its work itself.
 */
void engine_on_work(struct engine *e, void (*wake)(void *context),
		    void *context);

/* Appends to the log the marks of bulk loads that it lacks, which a full disk
 * kept from it: those of unmarked_seq to written_seq. They go before whatever
 * has later sequences. -ENOSPC: some are still lacking. Needs commit. */
int engine_log_marks(struct engine *e);

#endif
