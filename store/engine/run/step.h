#ifndef STORE_ENGINE_RUN_STEP_H
#define STORE_ENGINE_RUN_STEP_H

#include "store/engine/core/state.h"

/*
 * Background work: what turns memtables into ssts, keeps levels in shape and
 * gives space back. A thread calls engine_step, or a writer that has none; the
 * lock work lets one unit run at a time. All calls take work themselves, so it
 * must not be held, and neither must what comes after it in state.h.
 */

/* One unit of background work: 1 if there was some, 0 if idle, or a negative
 * error. After -ENOSPC and the like nothing has changed and the next call tries
 * it again; after others, such as damage, the store is read-only. */
int engine_step(struct engine *e);

/* Writes the lines of the event log that wait. With a background that is its
 * part, after each step and tick: it may wait for the disk, so no lock is held.
 * err_detail() stays. */
void engine_write_events(struct engine *e);

/* Flushes all that was written before the call. Takes commit, so it must not be
 * held. 0, or an error as of engine_step, or of beginning a log;
 * -ERR_store_readonly. */
int engine_flush(struct engine *e);

/* Flushes the memtables that wait for it, not the one that is written to. With
 * commit held, none comes to them meanwhile. Not of a store that is opened for
 * reading only. */
int engine_flush_waiting(struct engine *e);

/* As engine_flush, if the present memtable holds a deletion of data: until it
 * is in an sst, compactions of other files cannot go by newer rules. */
int engine_flush_deletions(struct engine *e);

/* Flushes, then compacts [start, end), encoded keys, to the lowest level, where
 * it is written anew without its garbage; an empty end is unbounded. Collects
 * blob files, too. May take hours; writers and readers go on. */
int engine_compact_range(struct engine *e, struct bytes start,
			 struct bytes end);

/* Drops history files that are of no moment, or too much, as background work
 * does, and large values of theirs as far as that needs no writing. 0 or an
 * error. */
int engine_trim_history(struct engine *e);

/* Removes one file that no version holds any more: 1, or 0 if there is none, or
 * the store is read-only after an error. One of the grace for readers only with
 * now. Takes lock, not work. */
int engine_remove_unused(struct engine *e, bool now);

#endif
