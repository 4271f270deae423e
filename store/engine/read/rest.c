#include <assert.h>

#include "store/engine/read/rest.h"

/*
 * Sources stand in a list from the one that has rested the longest. Whoever
 * lets one go does so with the lock held, which its reader waits for when it
 * wakes: so there is one of the two at a time.
 */

/* What an iterator over an sst takes, with the block that it is in; bytes. That
 * of a memtable takes less. */
#define ITER_SIZE ((uint64_t)64 << 10)

/* All that rest have up to this part of what all accounts share. */
#define REST_PART 8

static void add(struct rests *r, struct sources *s)
{
	s->older = r->newest;
	s->newer = NULL;
	if (r->newest)
		r->newest->newer = s;
	else
		r->oldest = s;
	r->newest = s;
	s->listed = true;
}

/* Needs rests.lock. */
static void take_out(struct engine *e, struct sources *s)
{
	struct rests *r = &e->rests;

	assert(s->listed && s->resting);
	if (s->older)
		s->older->newer = s->newer;
	else
		r->oldest = s->newer;
	if (s->newer)
		s->newer->older = s->older;
	else
		r->newest = s->older;
	s->listed = false;
	memory_give(e->memory, MEMORY_SCANS, s->iter_count * ITER_SIZE);
}

/* Makes room for one more that rests, at the cost of others: whether there is.
 * Needs rests.lock. */
static bool make_room(struct engine *e, uint64_t size)
{
	uint64_t share = memory_limit(e->memory) / REST_PART;
	struct sources *s;

	if (size > share)
		return false;
	while (memory_used(e->memory, MEMORY_SCANS) > share - size ||
	       !memory_take(e->memory, MEMORY_SCANS, size, 0)) {
		s = e->rests.oldest;
		if (!s)
			return false;
		take_out(e, s);
		sources_close(s);
	}
	return true;
}

void sources_rest(struct sources *s)
{
	struct engine *e = s->engine;

	if (!s->snapshot || s->resting)
		return;
	s->resting = true;
	pthread_mutex_lock(&e->rests.lock);
	/* It may have begun before something went. */
	if (s->epoch == atomic_load(&e->rests.epoch) &&
	    make_room(e, s->iter_count * ITER_SIZE))
		add(&e->rests, s);
	else
		sources_close(s);
	pthread_mutex_unlock(&e->rests.lock);
}

bool sources_wake(struct sources *s)
{
	bool gone;

	if (!s->resting)
		return false;
	pthread_mutex_lock(&s->engine->rests.lock);
	gone = !s->listed;
	if (!gone)
		take_out(s->engine, s);
	pthread_mutex_unlock(&s->engine->rests.lock);
	s->resting = false;
	return gone;
}

void engine_end_rests(struct engine *e)
{
	struct sources *s;

	pthread_mutex_lock(&e->rests.lock);
	atomic_fetch_add(&e->rests.epoch, 1);
	while ((s = e->rests.oldest)) {
		take_out(e, s);
		sources_close(s);
	}
	pthread_mutex_unlock(&e->rests.lock);
}
