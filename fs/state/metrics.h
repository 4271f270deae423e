#ifndef FS_STATE_METRICS_H
#define FS_STATE_METRICS_H

#include <stdatomic.h>

#include "store/base/buf.h"

/*
 * How long requests took, by kind: a histogram each, whose bounds are powers of
 * two microseconds. Any thread counts; a print sees each number at its own
 * moment.
 */
#define METRICS_KINDS 64   /* of requests: the kernel's numbers */
#define METRICS_BUCKETS 24 /* up to 2^(i) us; above 8 s only counted */

struct metrics {
	struct metric {
		_Atomic uint64_t count;
		_Atomic uint64_t total_ns;
		_Atomic uint64_t buckets[METRICS_BUCKETS];
	} kinds[METRICS_KINDS];
};

uint64_t metrics_now_ns(void);
/* One of the given kind, that began at start_ns, is done. */
void metrics_count(struct metrics *m, unsigned int kind, uint64_t start_ns);
/* In Prometheus' text format, of kinds that occurred. */
int metrics_print(const struct metrics *m, struct buf *out);

#endif
