#ifndef STORE_ENGINE_RUN_DEAD_H
#define STORE_ENGINE_RUN_DEAD_H

#include "store/engine/core/state.h"

/*
 * What is dead comes back by itself: files that deletions cover or whose table
 * was dropped, at once; what other deletions hide and what has expired, by
 * compactions that are worth their while (compact/pick_dead.h).
 */

/* To be called each second or so, from any thread: notes a moment of the recent
 * past, see core/history.h; has background work look for
 * what is dead, and gives a memtable to a flush whose deletions hide much, but
 * those of single rows only when nothing is written for some seconds. Without a
 * background each call counts as a second. Waits for no writer. */
void engine_tick(struct engine *e);

/* Drops the files of which nobody sees anything: 1, 0 if there are none, or an
 * error. Needs work. */
int engine_drop_dead(struct engine *e);

/* The next compaction that gives back what is dead, as those of pick.h. Needs
 * work. */
int engine_pick_dead(struct engine *e, struct version *v,
		     const struct compaction_options *o,
		     struct compaction *out);

#endif
