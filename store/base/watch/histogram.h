#ifndef STORE_BASE_WATCH_HISTOGRAM_H
#define STORE_BASE_WATCH_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * How long something took: a histogram whose bounds are powers of two
 * microseconds. Zeroed, it is ready. Any thread counts, without a lock; who
 * reads sees each number at its own moment.
 */
#define HISTOGRAM_BUCKETS 24 /* up to 2^(i) us; above 8 s only counted */

struct histogram {
	_Atomic uint64_t count;    /* of all, also above 8 s */
	_Atomic uint64_t total_ns; /* of all */
	/* Of those that took more than 2^(i-1) us, and 2^i at most. */
	_Atomic uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* By the steady clock, which nobody sets. */
uint64_t histogram_now_ns(void);

void histogram_add(struct histogram *h, uint64_t ns);

#endif
