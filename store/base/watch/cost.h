#ifndef STORE_BASE_WATCH_COST_H
#define STORE_BASE_WATCH_COST_H

#include <stdint.h>

/*
 * What reading has cost, counted by the thread that did it, so that a counter
 * is one instruction and no line of the cache is shared. The numbers only grow;
 * who wants to know what something cost takes them before it and asks
 * cost_since behind it. What is begun by one thread and goes on in another is
 * the sum of both.
 */
struct cost {
	uint64_t cells;    /* entries that were stepped over or to */
	uint64_t files;    /* ssts that were looked into */
	uint64_t excluded; /* ssts whose filters said that they need not be */
	uint64_t blocks;   /* of ssts' data, wherever they were */
	uint64_t blocks_read; /* that were not in the cache, also of indexes and
				 filters */
	uint64_t bytes_read;  /* by these, and of large values */
};

/* The present thread's. */
extern _Thread_local struct cost thread_cost;

/* What was added since before was taken by this thread. */
struct cost cost_since(const struct cost *before);

/* Adds more to sum. */
void cost_add(struct cost *sum, const struct cost *more);

#endif
