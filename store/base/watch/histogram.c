#include <time.h>

#include "store/base/watch/histogram.h"

uint64_t histogram_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Relaxed: the counters order nothing, and this is on the way of each request.
 */
static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	uint64_t us = (ns + 999) / 1000;
	/* The least i with us <= 2^i. */
	unsigned int i =
		us > 1 ? 64 - (unsigned int)__builtin_clzll(us - 1) : 0;

	add(&h->count, 1);
	add(&h->total_ns, ns);
	if (i < HISTOGRAM_BUCKETS)
		add(&h->buckets[i], 1);
}
