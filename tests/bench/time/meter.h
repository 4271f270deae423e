#ifndef TESTS_BENCH_TIME_METER_H
#define TESTS_BENCH_TIME_METER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/*
 * What a run is measured by: how long each call took, as a histogram that is
 * right to 3 %; and each second what the process and its directory take.
 */
#define METER_BUCKETS 2048

struct meter {
	uint64_t buckets[METER_BUCKETS];
	uint64_t count, max_ns;
};

void meter_add(struct meter *m, uint64_t ns);
/* The time in us that this share of the calls did not exceed; 0 of none. */
double meter_at(const struct meter *m, double share);

/* What was seen second by second. */
struct watch_second {
	uint64_t disk, held, resident; /* bytes */
};

enum { WATCH_SECONDS_MAX = 4096 };

struct watch {
	const char *directory;
	pthread_t thread;
	atomic_bool stop;
	/* Written by the thread until watch_end. */
	struct watch_second seconds[WATCH_SECONDS_MAX];
	size_t count;
};

/* Begins to look at the directory and this process; *w stays until watch_end.
 */
void watch_begin(struct watch *w, const char *directory);
void watch_end(struct watch *w);
struct watch_second watch_look(const char *directory);

/* Bytes that this process has written to files so far, and its peak of resident
 * memory. */
uint64_t meter_written(void);
uint64_t meter_resident_max(void);
uint64_t meter_now_ns(void);

#endif
