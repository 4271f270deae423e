#ifndef STORE_ENGINE_COMPACT_WINDOW_H
#define STORE_ENGINE_COMPACT_WINDOW_H

#include "store/engine/compact/compact.h"

/*
 * The range tombstones of a merge's inputs or of a memtable, fragmented anew, a
 * window of keys after the other, so that memory does not grow with their
 * number. Windows meet without a gap, at keys that lie in no row: an output may
 * end where a window does. One that reaches over an end is cut there. Of one
 * thread.
 */
struct window {
	const struct merge_context *context; /* borrowed, as the inputs */
	struct memtable *memtable;           /* borrowed; or, if NULL, */
	uint32_t place;                      /* in it, of the next window */
	struct window_source *sources;       /* that have any; owned */
	size_t count;
	struct tombstone_pile pile;
	struct buf start, end;      /* of the present one; empty: unbounded */
	struct tombstone_list list; /* those in it */
};

/* Before the first window. The inputs stay open until window_release, which
 * also comes after a failure. */
int window_init(struct window *w, const struct merge_context *context,
		const struct compaction *compaction);

/* As window_init, of a memtable that is written no more. Cannot fail. */
void window_init_memtable(struct window *w, const struct merge_context *context,
			  struct memtable *m);

/* Goes to the next window; the first begins before all keys, the last ends
 * after all. What list was is gone. 0 or an error. */
int window_next(struct window *w);

/* Whether key lies in a later one. */
bool window_is_past(const struct window *w, struct bytes key);

void window_release(struct window *w);

#endif
