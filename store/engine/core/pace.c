#include <time.h>

#include "store/engine/compact/level0.h"
#include "store/engine/core/pace.h"
#include "store/engine/core/state.h"

/* Writers sleep at least so long, as the system's sleep is not exact, and at
 * most; ns. */
#define SLEEP_MIN 500000
#define SLEEP_MAX 5000000
/* Level 0 stops writers nearly where it is so large a part of the levels below,
 * in percent, or so many memtables. They pay from two thirds of that on, where
 * merges begin (compact/pick.c). */
#define GARBAGE_PERCENT 49
#define GARBAGE_MEMTABLES 2
/* So many files that do not overlap count like one that does. */
#define LONE_FILES 16

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint32_t pace_debt(const struct engine *e, const struct version *v,
		   uint32_t depth)
{
	const struct engine_options *o = &e->options;
	uint32_t slow = o->level0_slow, stop = o->level0_stop, by_depth;
	uint64_t may = GARBAGE_MEMTABLES * (uint64_t)o->memtable_size;
	uint64_t below = 0, by_size;
	unsigned int i;

	for (i = 1; i < LEVEL_COUNT; i++)
		below += v->levels[i].size;
	below = below / 100 * GARBAGE_PERCENT;
	if (below > may)
		may = below;
	by_size = v->levels[0].size * (PACE_STOP / 4 * 3) / (may + 1);
	if (by_size > PACE_STOP / 2)
		by_size = 2 * by_size - PACE_STOP / 2;
	by_depth = depth * (PACE_STOP / 2) / (slow + !slow);
	if (depth > slow && stop > slow)
		by_depth = PACE_STOP / 2 +
			   (depth - slow) * (PACE_STOP / 2) / (stop - slow);
	if (by_size > PACE_STOP)
		by_size = PACE_STOP;
	return by_size > by_depth ? (uint32_t)by_size : by_depth;
}

void pace_version(struct engine *e, const struct version *v)
{
	size_t depth = level0_depth(v);

	if (v->levels[0].count / LONE_FILES > depth)
		depth = v->levels[0].count / LONE_FILES;
	atomic_store(&e->pace.depth, (uint32_t)depth);
	atomic_store(&e->pace.debt, pace_debt(e, v, (uint32_t)depth));
}

void pace_waiting(struct engine *e, size_t count)
{
	atomic_store(&e->pace.waiting, (uint32_t)count);
}

bool pace_work_begin(struct engine *e)
{
	bool is_inner = e->pace.begin_ns > 0;

	if (!is_inner && e->wake)
		e->pace.begin_ns = now_ns();
	return is_inner;
}

/* Notes what was done of the unit so far. */
static void count_work(struct pace *p)
{
	uint64_t now;

	if (p->begin_ns == 0)
		return;
	now = now_ns();
	p->work_ns += now - p->begin_ns;
	p->begin_ns = now;
}

void pace_work_end(struct engine *e, bool is_inner)
{
	count_work(&e->pace);
	if (!is_inner)
		e->pace.begin_ns = 0;
}

void pace_flushed(struct engine *e)
{
	uint64_t written = atomic_load(&e->counters.written_size), price, was;
	struct pace *p = &e->pace;

	count_work(p);
	if (p->work_ns == 0 || written == p->written)
		return;
	price = p->work_ns * 1024 / (written - p->written);
	was = atomic_load(&p->price);
	atomic_store(&p->price, was ? (7 * was + price) / 8 : price);
	p->work_ns = 0;
	p->written = written;
}

uint64_t pace_price(const struct engine *e, size_t size, uint32_t fill)
{
	const struct pace *p = &e->pace;
	uint64_t debt = atomic_load(&p->debt);

	/* The one that is flushed should be when this one is full. */
	if (atomic_load(&p->waiting) > 0 && fill > debt)
		debt = fill;
	if (debt <= PACE_STOP / 2)
		return 0;
	if (debt > PACE_STOP)
		return SLEEP_MAX;
	debt -= PACE_STOP / 2;
	return size * atomic_load(&p->price) / 1024 * debt * debt /
	       ((PACE_STOP / 4) * (PACE_STOP / 4));
}

/* Once a second, what writers slept in it and why. */
static void tell(struct engine *e, uint64_t now, uint32_t fill)
{
	struct pace *p = &e->pace;
	uint32_t debt = atomic_load(&p->debt);
	bool flush = atomic_load(&p->waiting) > 0 && fill > debt;

	if (p->told_s == now / 1000000000)
		return;
	p->told_s = now / 1000000000;
	event_add(
		&e->events, EVENTS_MAIN,
		"slowed for=%s us=%llu debt=%u depth=%u ns_per_kib=%llu",
		flush ? "memtables" : "level0", (unsigned long long)p->slept_us,
		(flush ? fill : debt) * 100 / PACE_STOP, atomic_load(&p->depth),
		(unsigned long long)atomic_load(&p->price));
	p->slept_us = 0;
}

/* The log is synced before its memtable is full, and again shortly before, and
 * the next one made, so that rotation is short: writers wait for that. */
static void want_sync(struct engine *e, uint32_t fill)
{
	static const uint32_t fills[] = { PACE_STOP / 4 * 3,
					  PACE_STOP / 16 * 15 };
	struct pace *p = &e->pace;

	if (p->sync_log != e->log_id) {
		p->sync_log = e->log_id;
		p->sync_count = 0;
	}
	if (p->sync_count == 2 || fill < fills[p->sync_count])
		return;
	p->sync_count = fill < fills[1] ? 1 : 2;
	atomic_store(&p->sync_wanted, true);
	if (e->wake)
		e->wake(e->wake_context);
}

void pace_writer(struct engine *e, size_t size)
{
	uint64_t begin, slept;
	struct pace *p = &e->pace;
	struct timespec pause = { 0 };
	uint32_t fill;

	fill = (uint32_t)(arena_used(&e->memtable->arena) * PACE_STOP /
			  e->memtable->arena.size);
	want_sync(e, fill);
	if (!e->wake)
		return;
	p->owed_ns += pace_price(e, size, fill);
	if (p->owed_ns < SLEEP_MIN)
		return;
	if (p->owed_ns > SLEEP_MAX)
		p->owed_ns = SLEEP_MAX;
	pause.tv_nsec = (long)p->owed_ns;
	begin = now_ns();
	nanosleep(&pause, NULL);
	slept = now_ns() - begin;
	p->owed_ns -= slept < p->owed_ns ? slept : p->owed_ns;
	p->slept_us += slept / 1000;
	atomic_fetch_add(&e->counters.slowed_us, slept / 1000);
	tell(e, begin + slept, fill);
}
