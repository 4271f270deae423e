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
 * takes away, and gives its sequences again. Of a store that is written to, one
 * of each minute does; what a crash leaves beyond the last one was there since
 * nobody knows when, so in the time from that moment to the first one after it
 * there is none to be read at (MOMENT_AFTER_GAP), but as long as an edit said
 * that nothing had come: those of closing and opening do.
 *
 * Whole seconds are exact, as people name them: before the first commit of a
 * second, and before a merge that may leave out what has expired in it, what is
 * there is noted as of its beginning (history_turn). A store that is at rest is
 * noted each second as of the beginning of that one.
 *
 * A clock that is set makes a gap, too. Set forward, GC time goes on further
 * than the time does, and of what is before and after one is not true. Set
 * back, GC time stands, and nothing can be noted until it goes on. Both are
 * seen by a clock that nobody sets, to some seconds, while the store is open.
 * Of the time between two openings nothing tells it but that the clock is
 * before moments that were noted: then the time between them and those before
 * is a gap, until the clock has caught up. Times that it showed twice, once
 * with moments each second, are answered by those.
 */

/* More history files are given up, the oldest first: an edit log begins with
 * all, each takes a descriptor once it was read, and a read of the past asks
 * those that overlap. */
#define HISTORY_FILES_MAX 4096

/* The moments that a manifest names, as a list with one reference. 0 or
 * -ENOMEM. */
int history_read(struct engine *e, const struct manifest *m,
		 struct moments **out);

/* At opening, before anything is flushed: takes what the manifest says. 0 or
 * -ENOMEM. */
int history_begin(struct engine *e);

/* From now on moments go back so far, in us, and history files take up to size
 * bytes, 0: as much as the tree had at most within that time. With keep_us 0
 * there is no history, and what there was goes. Until it is called, which
 * opening a store does, none is noted. Takes lock. */
void history_keep(struct engine *e, uint64_t keep_us, uint64_t size);

/* When all logs are replayed: what they had beyond the last moment was written
 * nobody knows when, and until the next one there is a gap. */
void history_recovered(struct engine *e);

/* Notes the present moment, if something has changed and time has passed since
 * the last one, and lets go of those that are too old. Without history lets go
 * of all. If nothing was written in this second, the moment is its beginning.
 * Takes lock. 0 or -ENOMEM. */
int history_note(struct engine *e);

/* The same each second; beside commits that have made a moment of this second
 * it is enough to let go. */
int history_tick(struct engine *e);

/* Notes the beginning of the second, by the clock, at now_us, if something has
 * changed since the last moment and nothing has since then. Without memory this
 * is left to the tick. Takes lock. */
void history_turn(struct engine *e, uint64_t now_us);

#define HISTORY_SECOND UINT64_C(1000000)
/* What a coarse clock may be behind: ten of the kernel's ticks at most. */
#define HISTORY_COARSE UINT64_C(100000)

/* For who is about to commit: notes the turn of the second, if there was one.
 * coarse_us, by clock_coarse, is mostly enough to know that there was none.
 * Needs commit. */
static inline void history_before(struct engine *e, uint64_t coarse_us)
{
	uint64_t second_us =
		atomic_load_explicit(&e->second_us, memory_order_relaxed);
	uint64_t now_us;

	if (coarse_us - second_us < HISTORY_SECOND - HISTORY_COARSE)
		return;
	now_us = clock_now(e->options.clock);
	if (now_us - second_us < HISTORY_SECOND)
		return;
	history_turn(e, now_us);
	atomic_store(&e->second_us, now_us - now_us % HISTORY_SECOND);
}

/* Gives up the moments up to seq; who reads at one is told that it has gone.
 * 0 or -ENOMEM. */
int history_forget(struct engine *e, uint64_t seq);

/* The same for lack of space, which the event log tells. */
int history_give_up(struct engine *e, uint64_t seq);

/* Whether space, of the disk or of the quota, is short and no history file is
 * left that could go: one that was written now would go the next second. Takes
 * lock. */
bool history_has_no_room(struct engine *e);

/* Bytes of the history files of v, and of the large values that are there for
 * them alone; without memory to find these, of the files. */
uint64_t history_size(const struct version *v);

/* Of these, the bytes of large values. */
uint64_t history_large_size(const struct version *v);

/* Drops history files that no moment wants any more, and the oldest if all take
 * more than they may, or space is short; tells the manifest each minute which
 * moments there are: 1, 0 if there was none of that to do, or an error. Needs
 * work. */
int history_trim(struct engine *e);

#endif
