#ifndef STORE_AGGREGATE_H
#define STORE_AGGREGATE_H

#include "store/base/buf.h"

/*
 * How the cells of an aggregate family merge: pure functions over states. A
 * state is what a cell holds, and what is added to one: a single number is a
 * state as well. Merging is associative and commutative, so that it may be done
 * in any order and in parts, by readers and by compaction.
 *
 * Of sum, min and max a state is a signed 64-bit big-endian number; a sum wraps
 * around. Of hll it is a sketch, see format/hll.h. Bytes that are no state of
 * the kind, which a family can have kept from before it became one of
 * aggregates, add nothing.
 */
enum aggregate_kind {
	AGGREGATE_NONE = 0, /* not for the functions below */
	AGGREGATE_SUM = 1,
	AGGREGATE_MIN = 2,
	AGGREGATE_MAX = 3,
	AGGREGATE_HLL = 4, /* how many different numbers there were, about */
};

/* What is merged so far. Zeroed, it is ready for aggregate_start. */
struct aggregate {
	enum aggregate_kind kind;
	struct buf state; /* empty: nothing was added */
};

/* Forgets what was merged; the memory is kept for the next. */
void aggregate_start(struct aggregate *a, enum aggregate_kind kind);
void aggregate_release(struct aggregate *a);

/* Merges state into a. 0, also if it is no state of the kind and adds nothing,
 * or -ENOMEM. */
int aggregate_add(struct aggregate *a, struct bytes state);

bool aggregate_is_state(enum aggregate_kind kind, struct bytes state);

/* Appends the state of one number. 0 or -ENOMEM. */
int aggregate_of(enum aggregate_kind kind, int64_t number, struct buf *out);

/* The number that a state stands for: of hll, about how many different ones
 * there were. Bytes that are no state are 0. */
int64_t aggregate_number(enum aggregate_kind kind, struct bytes state);

#endif
