#ifndef STORE_ENGINE_HISTORY_MOMENTS_H
#define STORE_ENGINE_HISTORY_MOMENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The moments that the recent past can be read at: each second of the last ten
 * minutes, each minute before that, and only where something changed. They are
 * a list and no formula of the time, since merges must know of every one that
 * may be read later, and since of what lies between two of them nothing is
 * kept.
 *
 * A list is immutable once it is shared, so a merge takes a reference where it
 * would copy thousands of moments under a lock.
 */
struct moment {
	uint64_t time_us;  /* GC time, which never goes back */
	uint64_t seq;      /* of the last write that it sees */
	uint64_t size;     /* bytes of the tree then */
	uint64_t flags;    /* of enum moment_flags */
	uint64_t until_us; /* until then nothing came after it, as far as that
			      is known; 0 or later than time_us */
};

/* Of a moment and the time between it and the one before, if there is one. Both
 * it and the one before are kept as long as they are within the window. */
enum moment_flags {
	/* What was written in between is there, but nobody knows when that was:
	 * the store was not closed, and came back with more than was noted, or
	 * the clock was set meanwhile. */
	MOMENT_AFTER_GAP = 1,
	/* It was more than a day, and that did go by. */
	MOMENT_PASSED = 2,
	MOMENT_FLAGS = 3, /* all that are known */
};

struct moments {
	atomic_uint references;
	size_t count;
	size_t outlived; /* the first so many are there for who reads at them
			    alone: what lay between them may be gone */
	struct moment items[]; /* ascending by seq, and so by time */
};

/* A list with one reference: a copy of these. 0 or -ENOMEM. */
int moments_new(const struct moment *items, size_t count, struct moments **out);

/* NULL stays NULL. */
struct moments *moments_get(struct moments *m);

/* Frees with the last reference. NULL is allowed. */
void moments_put(struct moments *m);

/* The oldest that can be asked for by any time since; NULL if there is none. */
const struct moment *moments_oldest(const struct moments *m);

/* The last moment that is not after time_us; NULL if all are, or it has
 * outlived others and is not of this very time. Whether it is known to be what
 * was there then, its neighbour says, see moment_flags. */
const struct moment *moments_at(const struct moments *m, uint64_t time_us);

/* The first of count moments, or of those of m, that sees what was written with
 * this sequence; NULL if none does. */
const struct moment *moment_from(const struct moment *items, size_t count,
				 uint64_t seq);

/* The first sequence that can be read at; UINT64_MAX if there is no moment. */
uint64_t moments_first(const struct moments *m);

/*
 * The list after m, at now_us: with fresh, which may be NULL, at its end, and
 * without what is not wanted any more. A moment is wanted as long as the next
 * one is not older than window_us, so that each time within the window has one
 * at or before it; the last is always. held (count of them) are sequences of
 * moments that are being read, which stay whatever their age.
 *
 * How old a moment is follows from the list: the time from each to the next,
 * but none at all where that is more than a day, unless half of it or more was
 * seen to go by: seen_us is since m's last moment, or since the store was
 * opened, by a clock that nobody sets. So a clock that jumps by years and back
 * takes nothing away, not even if the store was closed in between; the price is
 * that a store which is closed for days keeps its past for longer.
 *
 * 0 or -ENOMEM. *out is m itself, with one more reference, if nothing changes.
 */
int moments_next(struct moments *m, const struct moment *fresh, uint64_t now_us,
		 uint64_t seen_us, uint64_t window_us, const uint64_t *held,
		 size_t count, struct moments **out);

#endif
