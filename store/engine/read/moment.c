#include <stdlib.h>
#include <time.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/read/moment.h"

/* Room for a time as people read it. */
#define TIME_SIZE 32

static void print_time(uint64_t time_us, char text[TIME_SIZE])
{
	time_t seconds = (time_t)(time_us / 1000000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	if (strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		text[0] = 0;
}

/* first is the time of the oldest moment; 0: there is none. */
static int too_old(const struct engine *e, uint64_t time_us, uint64_t first)
{
	char wanted[TIME_SIZE], oldest[TIME_SIZE];

	print_time(time_us, wanted);
	print_time(first, oldest);
	if (first == 0)
		return fail(ERR_no_moment, "%s: no history is kept",
			    e->volume->path);
	return fail(ERR_no_moment,
		    "%s: history begins at %s (%llu us), and not "
		    "before %s",
		    e->volume->path, oldest, (unsigned long long)first, wanted);
}

/* Whether nobody knows what was there at time_us, at being the last moment
 * before, and until when: *end_us, as far as it is over. Needs lock. */
static bool is_in_gap(struct engine *e, const struct moment *at,
		      uint64_t time_us, uint64_t *end_us)
{
	const struct moments *m = e->moments;
	const struct moment *next = at + 1;
	bool is_last = next == m->items + m->count;

	*end_us = is_last ? engine_gc_time(e) : next->time_us;
	return time_us > at->time_us &&
	       ((is_last ? e->moment_flags : next->flags) & MOMENT_AFTER_GAP);
}

static int in_gap(const struct engine *e, uint64_t start_us, uint64_t end_us)
{
	char start[TIME_SIZE], end[TIME_SIZE];

	print_time(start_us, start);
	print_time(end_us, end);
	return fail(ERR_no_moment,
		    "%s: what was there between %s (%llu us) and %s (%llu us) "
		    "is not known, as the store was not closed; read at "
		    "another time",
		    e->volume->path, start, (unsigned long long)start_us, end,
		    (unsigned long long)end_us);
}

int engine_moment(struct engine *e, uint64_t time_us,
		  struct engine_snapshot **out)
{
	struct engine_snapshot *s = calloc(1, sizeof(*s));
	const struct moment *at = NULL;
	uint64_t first = 0, gap_us = 0, end_us;

	*out = s;
	if (!s)
		return -ENOMEM;
	s->past = true;
	pthread_mutex_lock(&e->lock);
	if (e->moments && e->moments->count > 0) {
		first = e->moments->items[0].time_us;
		at = moments_at(e->moments, time_us);
	}
	if (at && is_in_gap(e, at, time_us, &end_us)) {
		gap_us = at->time_us;
		at = NULL;
	}
	if (at) {
		s->seq = at->seq;
		s->gc_time_us = at->time_us;
		s->newer = e->past;
		if (e->past)
			e->past->older = s;
		e->past = s;
	}
	pthread_mutex_unlock(&e->lock);
	if (at)
		return 0;
	free(s);
	*out = NULL;
	return gap_us ? in_gap(e, gap_us, end_us) : too_old(e, time_us, first);
}

void engine_moment_rules(struct engine_snapshot *s, struct gc_rules *rules)
{
	gc_rules_put(s->rules);
	s->rules = rules;
}

uint64_t engine_moment_time(const struct engine_snapshot *s)
{
	return s->gc_time_us;
}
