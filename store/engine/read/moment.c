#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/read/moment.h"

/* Why there is no moment of a time: there is none before first_us, 0 if there
 * is none at all, and those of lost were given up; or it is in the gap from
 * gap_us to gap_end_us. */
struct no_moment {
	uint64_t first_us, gap_us, gap_end_us;
	struct lost_history lost;
};

#define MAKE_ROOM                                                         \
	"for lack of room; make some, or raise the quota: a tenth of it " \
	"is to be free"

static int none_kept(const struct engine *e, const struct no_moment *why)
{
	const char *path = e->volume->path;

	if (atomic_load(&e->history_us) == 0)
		return fail(ERR_no_moment,
			    "%s: no history is kept; tabletfs history 24h "
			    "begins it",
			    path);
	if (why->lost.until_us > 0)
		return fail(ERR_no_moment,
			    "%s: history was given up " MAKE_ROOM
			    "; it begins again within a second",
			    path);
	return fail(ERR_no_moment,
		    "%s: has nothing of the past, as a backup, or as it was "
		    "given up for lack of room; history begins when it is "
		    "opened to be written",
		    path);
}

static int too_old(const struct engine *e, uint64_t time_us,
		   const struct no_moment *why)
{
	char wanted[CLOCK_TEXT_SIZE], oldest[CLOCK_TEXT_SIZE];
	bool is_lost =
		time_us >= why->lost.from_us && time_us < why->lost.until_us;

	if (why->first_us == 0)
		return none_kept(e, why);
	clock_print(time_us, wanted, sizeof(wanted));
	clock_print(why->first_us, oldest, sizeof(oldest));
	return fail(ERR_no_moment,
		    "%s: history begins at %s, and %s is before that%s",
		    e->volume->path, oldest, wanted,
		    is_lost ? ", of which it was given up " MAKE_ROOM : "");
}

/* Whether nobody knows what was there at time_us, at being the last moment
 * before, and since when and until when, as far as it is over. Needs lock. */
static bool is_in_gap(struct engine *e, const struct moment *at,
		      uint64_t time_us, struct no_moment *why)
{
	const struct moments *m = e->moments;
	const struct moment *next = at + 1;
	bool is_last = next == m->items + m->count;

	why->gap_us = at->until_us > at->time_us ? at->until_us : at->time_us;
	why->gap_end_us = is_last ? engine_gc_time(e) : next->time_us;
	if (time_us <= why->gap_us)
		return false;
	if (!is_last)
		return next->flags & MOMENT_AFTER_GAP;
	/* As long as nothing came after it, it is what is there. */
	return (e->moment_flags & MOMENT_AFTER_GAP) &&
	       atomic_load(&e->visible_seq) > at->seq;
}

static int in_gap(const struct engine *e, uint64_t start_us, uint64_t end_us)
{
	char start[CLOCK_TEXT_SIZE], end[CLOCK_TEXT_SIZE];

	clock_print(start_us, start, sizeof(start));
	clock_print(end_us, end, sizeof(end));
	return fail(ERR_no_moment,
		    "%s: what was there between %s and %s is not known, as "
		    "the store was not closed or the clock was set; read at "
		    "another time",
		    e->volume->path, start, end);
}

/* The last moment not after time_us, or NULL and why: with known, also because
 * nobody knows what came between. Needs lock. */
static const struct moment *find(struct engine *e, uint64_t time_us, bool known,
				 struct no_moment *why)
{
	const struct moments *m = e->moments;
	const struct moment *at = moments_at(m, time_us);
	const struct moment *oldest = moments_oldest(m);

	*why = (struct no_moment){
		.first_us = oldest ? oldest->time_us : 0,
		.lost = e->lost,
	};
	return at && known && is_in_gap(e, at, time_us, why) ? NULL : at;
}

static int tell(const struct engine *e, uint64_t time_us,
		const struct no_moment *why)
{
	return why->gap_us > 0 ? in_gap(e, why->gap_us, why->gap_end_us)
			       : too_old(e, time_us, why);
}

int engine_find_moment(struct engine *e, uint64_t time_us, uint64_t *found_us)
{
	const struct moment *at;
	struct no_moment why;

	pthread_mutex_lock(&e->lock);
	at = find(e, time_us, true, &why);
	*found_us = at ? at->time_us : 0;
	pthread_mutex_unlock(&e->lock);
	return at ? 0 : tell(e, time_us, &why);
}

int engine_moment(struct engine *e, uint64_t time_us, bool known,
		  struct engine_snapshot **out)
{
	struct engine_snapshot *s = calloc(1, sizeof(*s));
	const struct moment *at;
	struct no_moment why;

	*out = s;
	if (!s)
		return -ENOMEM;
	s->past = true;
	pthread_mutex_lock(&e->lock);
	at = find(e, time_us, known, &why);
	if (at) {
		s->seq = at->seq;
		s->gc_time_us = at->time_us;
		s->view = view_get(e->view);
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
	return tell(e, time_us, &why);
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
