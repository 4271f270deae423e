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
		    "%s: history begins at %s (%llu us), and not "
		    "before %s",
		    e->volume->path, oldest, (unsigned long long)first, wanted);
}

/* The last moment not after time_us, or NULL; *first is the oldest one's time,
 * 0 if there is none. Needs lock. */
static const struct moment *find(const struct engine *e, uint64_t time_us,
				 uint64_t *first)
{
	const struct moments *m = e->moments;

	*first = m->count > 0 ? m->items[0].time_us : 0;
	return moments_at(m, time_us);
}

int engine_find_moment(struct engine *e, uint64_t time_us, uint64_t *found_us)
{
	const struct moment *at;
	uint64_t first;

	pthread_mutex_lock(&e->lock);
	at = find(e, time_us, &first);
	*found_us = at ? at->time_us : 0;
	pthread_mutex_unlock(&e->lock);
	return at ? 0 : too_old(e, time_us, first);
}

int engine_moment(struct engine *e, uint64_t time_us,
		  struct engine_snapshot **out)
{
	struct engine_snapshot *s = calloc(1, sizeof(*s));
	const struct moment *at;
	uint64_t first;

	*out = s;
	if (!s)
		return -ENOMEM;
	s->past = true;
	pthread_mutex_lock(&e->lock);
	at = find(e, time_us, &first);
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
	return too_old(e, time_us, first);
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
