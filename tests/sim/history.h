#ifndef TESTS_SIM_HISTORY_H
#define TESTS_SIM_HISTORY_H

#include "store/engine/compact/gc.h"
#include "store/engine/files/batch.h"

/*
 * What a store means, the naive way: a list of all that was ever written, and
 * the cells that a reader at some seq and time sees, found by looking at all of
 * it. Two lists mean the same if every reader sees the same.
 */
struct record {
	struct bytes key; /* full key; of a range, its start */
	struct bytes end; /* of a range; else empty */
	uint64_t seq;
};

struct history {
	struct record *records;
	size_t count, capacity;
};

/* Each copies the bytes it is given. Memory that runs out ends the program. */
void history_add_key(struct history *h, struct bytes key);
void history_add_range(struct history *h, struct bytes start, struct bytes end,
		       uint64_t seq);
void history_release(struct history *h);

/*
 * The keys of the cells that a reader at seq sees, ascending, by the rules and
 * the GC time: up to max of them in out, borrowed. Returns their count.
 */
size_t history_visible(const struct history *h, const struct gc_rules *rules,
		       uint64_t seq, uint64_t now_us, struct bytes *out,
		       size_t max);

#endif
