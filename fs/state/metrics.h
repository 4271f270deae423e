#ifndef FS_STATE_METRICS_H
#define FS_STATE_METRICS_H

#include <stdatomic.h>

#include "store/base/buf.h"

/*
 * How long requests took, by kind: a histogram each, whose bounds are powers of
 * two microseconds. Zeroed, it is ready. Any thread counts, without a lock; a
 * print sees each number at its own moment.
 */
#define METRICS_KINDS 64   /* of requests: the kernel's numbers */
#define METRICS_BUCKETS 24 /* up to 2^(i) us; above 8 s only counted */

struct metrics {
	struct metric {
		_Atomic uint64_t count;    /* of all, also above 8 s */
		_Atomic uint64_t total_ns; /* of all */
		/* Of those that took more than 2^(i-1) us, and 2^i at most. */
		_Atomic uint64_t buckets[METRICS_BUCKETS];
	} kinds[METRICS_KINDS];
	/* Told of each request of a kind with a name; set before the first one.
	 * NULL: nobody is. */
	void (*taken)(void *context, const char *kind, uint64_t us);
	void *context;
};

/* By the steady clock, which nobody sets. */
uint64_t metrics_now_ns(void);

/* A request that began at start_ns, by metrics_now_ns, is done; kind is its
 * opcode. */
void metrics_count(struct metrics *m, unsigned int kind, uint64_t start_ns);

/* Appends Prometheus' text format, of kinds that occurred. 0 or -ENOMEM. */
int metrics_print(const struct metrics *m, struct buf *out);

#endif
