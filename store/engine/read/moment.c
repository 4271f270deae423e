#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/read/moment.h"

/* first is the time of the oldest moment; 0: there is none. */
static int too_old(const struct engine *e, uint64_t time_us, uint64_t first)
{
	char wanted[CLOCK_TEXT_SIZE], oldest[CLOCK_TEXT_SIZE];

	clock_print(time_us, wanted, sizeof(wanted));
	clock_print(first, oldest, sizeof(oldest));
	if (first == 0)
		return fail(ERR_no_moment,
			    "%s: no history is kept; tabletfs history 24h "
			    "begins it",
			    e->volume->path);
	return fail(ERR_no_moment,
		    "%s: history begins at %s, and not before %s",
		    e->volume->path, oldest, wanted);
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
	char start[CLOCK_TEXT_SIZE], end[CLOCK_TEXT_SIZE];

	clock_print(start_us, start, sizeof(start));
	clock_print(end_us, end, sizeof(end));
	return fail(ERR_no_moment,
		    "%s: what was there between %s and %s is not known, as "
		    "the store was not closed; read at another time",
		    e->volume->path, start, end);
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
	if (e->moments->count > 0) {
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
