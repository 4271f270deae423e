#ifndef STORE_ENGINE_CORE_GAPS_H
#define STORE_ENGINE_CORE_GAPS_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/engine/compact/gc.h"
#include "store/engine/files/batch.h"

/*
 * Gaps: ranges of keys in which nothing is visible, although there are entries.
 * Deletions, overwritten and expired versions stay where they are until a merge
 * meets them, and a reader that has stepped over a long run of them notes it,
 * so that the next one seeks past it: the front of a queue, a file saved ten
 * thousand times, a table that was emptied.
 *
 * A gap says that no entry in [start, end) was visible at sequence seq and GC
 * time gc_time_us by the present rules, nor has a put come since. What is dead
 * stays dead for whoever reads later: time does not go back, deletions are not
 * undone, and new rules forget all gaps. So it is of no concern where entries
 * lie, and when they are merged.
 *
 * A gap ends before a version, not between two writes of one: a deletion of the
 * version comes before what it deletes, and must not be passed over. (It may
 * begin between two, as what comes before it is not passed over.)
 *
 * A put cuts what it falls into before it is visible. Between a reader's moment
 * and its note others write, so the reader watches its run from the first step
 * on, and a put shortens what is watched; it may only begin to watch when
 * nothing was written since its moment (begun_seq).
 *
 * All calls may come from any thread; the lock is taken with any other held,
 * and no other is taken under it. Nothing of it is needed to be right: without
 * memory there are no gaps.
 */

/* Entries that are passed before a gap is looked for, and again after as many.
 * A step costs some 30 ns, and what is saved must be worth a seek, which costs
 * ten times that. */
#define GAP_STEPS 8
/* A run under watch makes a gap if it was so many times as long. */
#define GAP_STEPS_NOTED 3

/* So many are kept; the one that is the longest not used goes. */
#define GAPS_MAX 64
/* Longer keys begin or end none; bytes. So all take 128 KiB at most. */
#define GAP_KEY_MAX 1024

struct gap {
	struct buf start, end; /* no end: all keys from start on */
	uint64_t seq;          /* no reader of an earlier one may use it, */
	uint64_t gc_time_us;   /* or of an earlier time */
	uint64_t used;         /* by struct gaps.uses */
};

/* A run under watch, of its reader's memory. */
struct gap_watch {
	struct buf start, end; /* as of struct gap */
	struct gap_watch *next;
	bool lost; /* anything may have come */
};

struct gaps {
	pthread_mutex_t lock; /* guards what follows but for the atomics */
	struct gap items[GAPS_MAX]; /* by start, disjoint */
	size_t count;
	struct gap_watch *watches;
	const struct gc_rules *rules; /* that all are by; only compared */
	uint64_t uses;                /* a clock */
	unsigned int steps; /* GAP_STEPS, or what a test wants; for good */
	atomic_uint active; /* gaps and watches: without any, writers pass */
	_Atomic uint64_t begun_seq; /* of the last batch that may be seen */
};

/* steps 0: the default. */
void gaps_init(struct gaps *g, unsigned int steps);
void gaps_release(struct gaps *g); /* no watch may be left */

/* Before the records of b, of which seq is the last sequence, can be seen. The
 * writer's, with commit held. */
void gaps_note_batch(struct gaps *g, const struct batch *b, uint64_t seq);

/* Forgets all: any keys may become visible, up to this sequence. With commit
 * held. */
void gaps_note_any(struct gaps *g, uint64_t seq);

/* Forgets all, since other rules hold now. */
void gaps_set_rules(struct gaps *g, const struct gc_rules *rules);

/*
 * A reader's walk over what is dead. It starts when entries begin to be dead,
 * and ends with the next visible one, or where the reader's range does.
 */
struct gap_run {
	struct gaps *gaps; /* NULL: this reader uses none and notes none */
	const struct gc_rules *rules; /* of its moment, as the next two */
	uint64_t seq, gc_time_us;
	unsigned int steps; /* entries passed */
	unsigned int
		watched; /* of these, since watch was begun; 0: it is not */
	bool late;       /* to begin one: there was a write meanwhile */
	struct gap_watch watch;
	struct buf target;
};

void gap_run_release(struct gap_run *r);

/* A dead entry, or row, begins at key: 1 if all is dead up to *target, which
 * lives until the next call and is empty for all that follows; else 0. */
int gap_run_pass(struct gap_run *r, struct bytes key, struct bytes *target);

/* The run is over: nothing else lies before next, a version key or a prefix;
 * empty: nothing is left. */
void gap_run_end(struct gap_run *r, struct bytes next);

/* The run is over, and how far it went is not known. */
void gap_run_drop(struct gap_run *r);

#endif
