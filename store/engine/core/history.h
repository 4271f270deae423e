#ifndef STORE_ENGINE_CORE_HISTORY_H
#define STORE_ENGINE_CORE_HISTORY_H

#include "store/engine/core/state.h"

/*
 * The recent past: which moments can be read at, and which history files are
 * there for them. The list in memory is what merges and readers go by; that in
 * the manifest follows it with each edit. So what a merge leaves out for good,
 * as no moment sees it, is gone only when no moment of the manifest does; and a
 * file goes by the edit that says that the moments before it have gone.
 *
 * A moment becomes durable when what it sees is: what was not synced a crash
 * takes away, and gives its sequences again.
 */

/* At opening, before anything is flushed: takes what the manifest says. 0 or
 * -ENOMEM. */
int history_begin(struct engine *e);

/* From now on moments go back so far, in us, and history files take up to size
 * bytes, 0: as much as the tree had at most within that time. With keep_us 0
 * there is no history, and what there was goes. Until it is called, which
 * opening a store does, none is noted. Takes lock. */
void history_keep(struct engine *e, uint64_t keep_us, uint64_t size);

/* Notes the present moment, if something has changed and time has passed since
 * the last one, and lets go of those that are too old: to be called each
 * second. Without history lets go of all. Takes lock. 0 or -ENOMEM. */
int history_note(struct engine *e);

/* Gives up the moments up to seq; who reads at one is told that it has gone.
 * 0 or -ENOMEM. */
int history_forget(struct engine *e, uint64_t seq);

/* Bytes of the history files of v. */
uint64_t history_size(const struct version *v);

/* Drops history files that no moment wants any more, and the oldest if all take
 * more than they may, or space is short: 1, 0 if there were none, or an error.
 * Needs work. */
int history_trim(struct engine *e);

#endif
