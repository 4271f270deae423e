#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/read/snapshot.h"

/*
 * Snapshots stand in a list from oldest to newest, because a merge needs their
 * sequences in ascending order. A snapshot takes its place in it under the lock
 * under which it reads the visible sequence, so the order of the list is that
 * of the sequences.
 */

int engine_snapshot(struct engine *e, struct engine_snapshot **out)
{
	struct engine_snapshot *s;
	int err = engine_fresh(e);

	*out = NULL;
	if (err < 0)
		return err;
	*out = s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct engine_snapshot){ .pending = NULL };
	pthread_mutex_lock(&e->lock);
	assert(!e->newest == !e->oldest);
	s->seq = atomic_load(&e->visible_seq);
	assert(!e->newest || e->newest->seq <= s->seq);
	s->gc_time_us = engine_gc_time(e);
	s->rules = gc_rules_get(e->rules);
	s->view = view_get(e->view);
	s->older = e->newest;
	if (e->newest)
		e->newest->newer = s;
	else
		e->oldest = s;
	e->newest = s;
	pthread_mutex_unlock(&e->lock);
	return 0;
}

/* Somebody lets go of rules: maybe what only these knew can be dropped. Needs
 * lock. */
static void turn_rules(struct engine *e)
{
	e->rules_turn++;
	atomic_store(&e->rules_changed, true);
}

/* Of a moment of the past: no merge goes by it. */
static void release_past(struct engine *e, struct engine_snapshot *s)
{
	pthread_mutex_lock(&e->lock);
	if (s->older)
		s->older->newer = s->newer;
	else
		e->past = s->newer;
	if (s->newer)
		s->newer->older = s->older;
	pthread_mutex_unlock(&e->lock);
	gc_rules_put(s->rules);
	view_put(s->view);
	free(s);
}

void engine_snapshot_release(struct engine *e, struct engine_snapshot *s)
{
	if (!s)
		return;
	/* That of pending_view stands in no list and is freed by its owner. */
	assert(!s->pending);
	if (s->past) {
		release_past(e, s);
		return;
	}
	pthread_mutex_lock(&e->lock);
	if (s->older)
		s->older->newer = s->newer;
	else
		e->oldest = s->newer;
	if (s->newer)
		s->newer->older = s->older;
	else
		e->newest = s->older;
	/* What it saw of tables that were dropped since goes now. */
	if (s->rules != e->rules)
		turn_rules(e);
	pthread_mutex_unlock(&e->lock);
	gc_rules_put(s->rules);
	view_put(s->view);
	free(s);
}

const struct gc_rules *engine_snapshot_rules(const struct engine_snapshot *s)
{
	return s->rules;
}

int rules_seen_locked(struct engine *e, struct rules_seen *out)
{
	const struct engine_snapshot *s;
	size_t count = 1;

	for (s = e->oldest; s; s = s->newer)
		count++;
	*out = (struct rules_seen){
		.items = malloc(count * sizeof(*out->items)),
		.turn = e->rules_turn + 1,
	};
	if (!out->items)
		return -ENOMEM;
	out->items[out->count++] = gc_rules_get(e->rules);
	/* Those of neighbours are the same, or follow one another. */
	for (s = e->newest; s; s = s->older)
		if (s->rules && s->rules != out->items[out->count - 1])
			out->items[out->count++] = gc_rules_get(s->rules);
	return 0;
}

int rules_seen_take(struct engine *e, struct rules_seen *out)
{
	int err;

	pthread_mutex_lock(&e->lock);
	err = rules_seen_locked(e, out);
	pthread_mutex_unlock(&e->lock);
	return err;
}

void rules_seen_release(struct rules_seen *r)
{
	while (r->count > 0)
		gc_rules_put(r->items[--r->count]);
	free(r->items);
}

uint64_t engine_snapshot_seq(const struct engine_snapshot *s)
{
	return s->seq;
}

void engine_hold_gc_time(struct engine *e, enum gc_time_holder by, bool hold)
{
	pthread_mutex_lock(&e->lock);
	engine_gc_time(e);
	e->gc_time_held = hold ? e->gc_time_held | by : e->gc_time_held & ~by;
	pthread_mutex_unlock(&e->lock);
}

void engine_set_rules(struct engine *e, struct gc_rules *rules)
{
	struct gc_rules *old;

	pthread_mutex_lock(&e->lock);
	old = e->rules;
	e->rules = gc_rules_get(rules);
	gaps_set_rules(&e->gaps, rules);
	turn_rules(e);
	pthread_mutex_unlock(&e->lock);
	/* Maybe the last reference: then it frees, which takes long. */
	gc_rules_put(old);
}
