#ifndef TESTS_BENCH_TIME_WORK_H
#define TESTS_BENCH_TIME_WORK_H

#include "tests/bench/engine/peer.h"
#include "tests/bench/time/meter.h"

/* One engine at one work, in a process of its own. */
struct run {
	const struct peer *peer;
	const char *directory; /* of the store; its parent is there, too */
	void *db, *session;
	struct meter commits, reads, appends;
	struct watch watch;
	int beside;            /* the file that is appended to */
	uint64_t beside_at;    /* its size */
	uint64_t appended;     /* bytes, in all */
	uint64_t given;        /* bytes of keys and values committed */
	uint64_t wrote_before; /* by this process; bytes */
	double began, ended;   /* of what is measured; seconds */
	char more[400];        /* what else there is to tell */
};

struct work {
	const char *name;
	void (*run)(struct run *r);
	bool overwrites; /* so all the while as much is live */
};

extern const struct work works[];
extern const size_t work_count;

/* Bytes of files that the cells which an overwriting work has left take by
 * themselves, in a new store, in order and compacted. A cell's time is one of
 * the store's own bytes, and compresses less the more they differ. */
uint64_t work_live(const struct run *r, const char *directory);

#endif
