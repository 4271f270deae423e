#include <assert.h>
#include <stdlib.h>

#include "store/base/clock.h"
#include "store/model/schema.h"
#include "store/model/write.h"
#include "store/scan.h"
#include "store/update.h"

/*
 * Whether the row has changed while it was asked about, commits tell its guard,
 * so that however much is in the row it costs nothing to find out; and a change
 * of the schema makes another one of that. No snapshot is needed: what a scan
 * sees that was opened after the guard was set is what was there then, or the
 * guard tells.
 */
#define TRIES_MAX 3

struct conditional {
	struct store *s;
	struct row_condition q;
	struct condition_watch watch;
	/* While it is asked beside others: */
	bool guarded;           /* guard is in s->guards; changed by s->writing
				 */
	struct row_guard guard; /* protected by s->writing */
	struct schema *schema;  /* of when it was set; referenced */
	bool away;              /* the update ended to ask so */
	int answer;             /* of that */
	unsigned int tries;
	uint64_t all_ns, last_ns; /* of all of them, and of the last */
};

/* Of this thread, while it asks: scans ask without saying whose they are. */
static _Thread_local struct condition_watch *watching;

static bool stop_condition(void)
{
	struct condition_watch *w = watching;
	uint64_t now_ns = clock_processor_ns();

	if (!w->begun_ns)
		w->begun_ns = now_ns;
	if (now_ns - w->begun_ns > w->limit_ns)
		w->late = true;
	return w->late || (w->stop && w->stop(w->context));
}

static bool pause_condition(void)
{
	struct condition_watch *w = watching;

	return w->pause(w->context);
}

static bool has_room(uint64_t size)
{
	struct condition_watch *w = watching;

	return w->room(w->context, size);
}

void condition_watch(struct condition_watch *w, struct scan_range *range)
{
	assert(watching == w);
	range->watch = w->pause ? NULL : &w->regex;
	range->stop = stop_condition;
	range->pause = w->pause ? pause_condition : NULL;
	range->room = w->room ? has_room : NULL;
}

static bool is_over(const struct conditional *c)
{
	return c->q.stop && c->q.stop(c->q.context);
}

/* Asks for as long as that, of which patterns have regex_ns, or what there is.
 * The answer, or -ETIME if that was too short, or there is no room for which to
 * wait while others do. At first the time begins when
 * stop is asked first, since most conditions end before, and a look at the
 * clock would cost them as much as all else here. */
static int ask(struct conditional *c, uint64_t limit_ns, uint64_t regex_ns)
{
	struct condition_watch *w = &c->watch;
	int result;

	if (is_over(c))
		return -EINTR;
	assert(!watching);
	w->regex.stop = stop_condition;
	w->regex.limit_ns = regex_ns;
	w->stop = c->q.stop;
	w->pause = c->guarded ? c->q.pause : NULL;
	w->room = c->q.room;
	w->context = c->q.context;
	w->limit_ns = limit_ns;
	w->begun_ns = c->tries > 0 ? clock_processor_ns() : 0;
	w->late = false;
	watching = w;
	result = c->q.ask(c->q.context, w);
	watching = NULL;
	w->regex.work = w->regex.begun_ns = 0;
	if (c->tries > 0)
		c->last_ns += clock_processor_ns() - w->begun_ns;
	if ((result == -EINTR && w->late) || (result == -EAGAIN && !w->pause))
		return -ETIME;
	return result >= 0 && is_over(c) ? -EINTR : result;
}

static int too_long(const struct conditional *c, uint64_t limit_ns)
{
	if (c->tries > 1)
		return fail(EBUSY,
			    "the row of the condition, which takes long, was "
			    "changed by others each of the %u times that it "
			    "was asked about: try again, or ask about less",
			    c->tries);
	return fail(ERR_bad_argument,
		    "the condition takes longer than %u ms: ask about fewer "
		    "or smaller cells, or by fewer filters",
		    (unsigned int)(limit_ns / 1000000));
}

/* Of all that is asked beside others. */
static uint64_t limit_away(const struct conditional *c)
{
	return c->q.stop ? CONDITION_ALL_NS : CONDITION_LOCKED_NS;
}

/* While all wait. What took too long for that a moment ago is not tried. */
static int ask_locked(struct conditional *c)
{
	int result = -ETIME;

	if (c->last_ns <= CONDITION_LOCKED_NS && c->all_ns < limit_away(c))
		result = ask(c, CONDITION_LOCKED_NS, REGEX_LOCKED_NS);
	/* Of patterns it says so by itself. */
	return result == -ETIME || result == -ERR_bad_argument
		       ? too_long(c, CONDITION_LOCKED_NS)
		       : result;
}

/* Beside others, or some of it: -EAGAIN if it has paused. */
static int ask_away(struct conditional *c)
{
	uint64_t before = c->last_ns, limit = limit_away(c);
	int result = c->all_ns < limit ? ask(c, limit - c->all_ns, 0) : -ETIME;

	c->all_ns += c->last_ns - before;
	return result == -ETIME ? too_long(c, limit) : result;
}

/* From now on it is noted whether the row changes. Needs s->writing. */
static int set_guard(struct conditional *c, const struct write *w)
{
	int err = row_guard_add(&c->s->guards, &c->guard,
				bytes_of(w->key.data, w->row_end));

	if (err < 0)
		return err;
	c->schema = store_schema(c->s);
	c->guarded = c->away = true;
	c->tries++;
	c->last_ns = 0;
	return -EAGAIN;
}

/* Ends that, if it was so: whether all is as it was. Needs s->writing. */
static bool end_guard(struct conditional *c)
{
	bool same =
		c->guarded && !c->guard.changed && c->schema == c->s->schema;

	if (c->guarded)
		row_guard_remove(&c->s->guards, &c->guard);
	schema_put(c->schema);
	c->schema = NULL;
	c->guarded = false;
	return same;
}

/* The answer as of now, or -EAGAIN with away: it is to be asked beside others.
 * Who has been away knows that it takes long. */
static int answer(struct conditional *c, const struct write *w)
{
	int result;

	if (c->tries == 0) {
		result = ask(c, CONDITION_FIRST_NS, 0);
		return result == -ETIME ? set_guard(c, w) : result;
	}
	return c->tries < TRIES_MAX ? set_guard(c, w) : ask_locked(c);
}

static int decide(void *context, struct write *w)
{
	struct conditional *c = context;
	const struct row_condition *q = &c->q;
	bool same = end_guard(c);
	int err = write_row(w, q->table, q->row);

	if (err < 0)
		return err;
	if (!same)
		c->answer = answer(c, w);
	return c->answer < 0 ? c->answer
			     : q->decide(q->context, c->answer > 0, w);
}

int conditional_run(struct conditional *c, bool sync)
{
	int err;

	do {
		if (c->guarded)
			c->answer = ask_away(c);
		if (c->guarded && c->answer == -EAGAIN)
			return 1;
		c->away = false;
		err = store_update(c->s, decide, c, sync);
	} while (c->away);
	return err;
}

int conditional_new(struct store *s, const struct row_condition *q,
		    struct conditional **out)
{
	struct conditional *c = calloc(1, sizeof(*c));

	*out = c;
	if (!c)
		return -ENOMEM;
	c->s = s;
	c->q = *q;
	return 0;
}

void conditional_free(struct conditional *c)
{
	if (!c)
		return;
	if (c->guarded) {
		pthread_mutex_lock(&c->s->writing);
		(void)end_guard(c);
		pthread_mutex_unlock(&c->s->writing);
	}
	free(c);
}

int store_update_if(struct store *s, const struct row_condition *q, bool sync)
{
	struct conditional *c;
	int err;

	assert(!q->pause);
	err = conditional_new(s, q, &c);
	if (err == 0)
		err = conditional_run(c, sync);
	conditional_free(c);
	return err;
}
