#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/engine/peer.h"
#include "tests/bench/time/meter.h"

/* 32 buckets to each power of two. */
#define STEPS 32

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift = 0;

	while (ns >> shift >= 2 * STEPS)
		shift++;
	return shift * STEPS + (unsigned int)(ns >> shift);
}

/* The end of a bucket. */
static uint64_t bucket_end(unsigned int i)
{
	unsigned int shift = i < 2 * STEPS ? 0 : i / STEPS - 1;

	return (uint64_t)(i - shift * STEPS + 1) << shift;
}

void meter_add(struct meter *m, uint64_t ns)
{
	m->buckets[bucket_of(ns)]++;
	m->count++;
	if (ns > m->max_ns)
		m->max_ns = ns;
}

double meter_at(const struct meter *m, double share)
{
	uint64_t wanted = (uint64_t)((double)m->count * share), seen = 0;
	unsigned int i;

	if (m->count == 0)
		return 0;
	for (i = 0; i < METER_BUCKETS; i++) {
		seen += m->buckets[i];
		if (seen > wanted)
			return (double)bucket_end(i) / 1000;
	}
	return (double)m->max_ns / 1000;
}

uint64_t meter_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The number behind a word at the beginning of a line; 0 if there is none. */
static uint64_t line_of(const char *path, const char *word)
{
	FILE *f = fopen(path, "r");
	unsigned long long value = 0;
	char line[200];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, word, strlen(word)) == 0)
			sscanf(line + strlen(word), "%llu", &value);
	if (f)
		fclose(f);
	return value;
}

uint64_t meter_written(void)
{
	return line_of("/proc/self/io", "wchar:");
}

uint64_t meter_resident_max(void)
{
	return line_of("/proc/self/status", "VmHWM:") << 10;
}

struct watch_second watch_look(const char *directory)
{
	struct watch_second s = { 0 };

	s.disk = bench_disk(directory, &s.held);
	s.resident = line_of("/proc/self/status", "VmRSS:") << 10;
	return s;
}

static void *watch_main(void *context)
{
	struct watch *w = context;
	struct timespec pause = { 0, 100000000 };
	double next = bench_now() + 1;

	while (!atomic_load(&w->stop)) {
		nanosleep(&pause, NULL);
		if (bench_now() < next || w->count == WATCH_SECONDS_MAX)
			continue;
		next++;
		w->seconds[w->count++] = watch_look(w->directory);
	}
	return NULL;
}

void watch_begin(struct watch *w, const char *directory)
{
	w->directory = directory;
	if (pthread_create(&w->thread, NULL, watch_main, w))
		bench_die("no thread");
}

void watch_end(struct watch *w)
{
	atomic_store(&w->stop, true);
	pthread_join(w->thread, NULL);
}
