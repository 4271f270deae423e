#include <assert.h>

#include "tools/serve/call_state.h"
#include "tools/serve/share.h"

/* Who waits for memory says so at each tick; after so long nobody does. */
#define WANTED_MS 1000
/* What handlers of a call may keep while calls have no more than their share
 * together, whatever others have: enough for a scan of rows that are small. */
#define CALL_FREE ((uint64_t)128 << 10)
/* That, as much of its request, and its queue, more or less. */
#define CALL_LEFT (4 * CALL_FREE)
/* Beyond that share, of what is left for who needs little: a write, or a read
 * of a small row; and of a client with little a read of some rows. */
#define CALL_SMALL ((uint64_t)8 << 10)
#define CALL_MEDIUM ((uint64_t)64 << 10)
/* What is given back at once and worth a look at the heap. */
#define TRIM_MIN ((uint64_t)1 << 20)
/* Parts of the limit: a client that has no more has little, or next to nothing,
 * as who makes one short call after another. All clients that there may be have
 * a quarter together then. */
#define CLIENT_SMALL 64
#define CLIENT_TINY 1024
/* And a message of an answer that has more is a large one. */
#define LARGE 16

static uint64_t limit(const struct call *c)
{
	return memory_limit(c->transport->options->memory);
}

/* How much calls may have together, as this one is told; it is less for whoever
 * does not read what there is. */
static uint64_t bound(const struct call *c)
{
	return atomic_load(&c->share->stalled) ? limit(c) / 4 : limit(c) / 2;
}

/* What calls have together. */
static uint64_t used(const struct call *c)
{
	return memory_used(c->transport->options->memory, MEMORY_WIRE);
}

/* The same without what the one that goes beyond all bounds has by that. */
static uint64_t used_within(const struct call *c)
{
	uint64_t all = used(c), b = atomic_load(&c->transport->token->beyond);

	return b < all ? all - b : 0;
}

/* How much calls may have together for this one to have a little more. A client
 * that has much leaves something to those that have less, and one that does not
 * read what there is more of it. */
static uint64_t reach(const struct call *c)
{
	uint64_t held = atomic_load(&c->share->held);
	bool stalled = atomic_load(&c->share->stalled);

	if (held <= limit(c) / CLIENT_TINY)
		return limit(c) / 4 * 3;
	if (held <= limit(c) / CLIENT_SMALL)
		return stalled ? limit(c) / 2 : limit(c) / 8 * 5;
	return bound(c);
}

/* Others are to give something back. */
static void want(struct call *c)
{
	atomic_store(&c->transport->token->wanted_ms, transport_ms());
}

void share_count(struct call *c, uint64_t size)
{
	atomic_fetch_add(&c->share->held, size);
	memory_hold(c->transport->options->memory, MEMORY_WIRE, size);
	if (atomic_load(&c->large))
		atomic_fetch_add(&c->transport->token->beyond, size);
}

void share_uncount(struct call *c, uint64_t size)
{
	_Atomic uint64_t *beyond = &c->transport->token->beyond;

	if (size >= TRIM_MIN)
		atomic_store(&c->transport->token->given, true);
	atomic_fetch_sub(&c->share->held, size);
	memory_give(c->transport->options->memory, MEMORY_WIRE, size);
	/* What it had before it went beyond is not in that. */
	if (atomic_load(&c->large) && atomic_load(beyond) > size)
		atomic_fetch_sub(beyond, size);
	else if (atomic_load(&c->large))
		atomic_store(beyond, 0);
}

/* Whether all that shares the limit is within it, but for what goes beyond all
 * bounds. */
static bool is_within_limit(const struct call *c)
{
	const struct memory *m = c->transport->options->memory;
	uint64_t all = used_within(c);
	unsigned int i;

	for (i = MEMORY_TOMBSTONES + 1; i < MEMORY_ACCOUNTS; i++)
		if (i != MEMORY_WIRE)
			all += memory_used(m, i);
	return all <= limit(c);
}

/* One client leaves others something, however much it asks for; and the one
 * that goes beyond leaves them all. */
static bool take_within(struct call *c, uint64_t size)
{
	if (used_within(c) + size > bound(c))
		return false;
	share_count(c, size);
	if (atomic_load(&c->share->held) <= limit(c) / 4 &&
	    used_within(c) <= bound(c) && is_within_limit(c))
		return true;
	share_uncount(c, size);
	return false;
}

bool share_admit(struct call *c, uint64_t size)
{
	/* One client leaves others something of this, too. */
	uint64_t arrived = atomic_load(&c->share->arrived) + size;
	uint64_t most = arrived <= limit(c) / CLIENT_TINY ? limit(c) / 4 * 3
							  : limit(c) / 8 * 5;

	if (used_within(c) + size > limit(c) / 2 &&
	    (used_within(c) + size > most || arrived > limit(c) / 16)) {
		want(c);
		return false;
	}
	share_count(c, size);
	atomic_fetch_add(&c->share->arrived, size);
	c->admitted += size;
	return true;
}

void share_pass(struct call *c)
{
	struct memory_token *token = c->transport->token;

	if (!atomic_load(&c->large) || c->taken > CALL_FREE ||
	    c->reserved > CALL_FREE ||
	    c->queued > c->transport->options->queue_max)
		return;
	if (c->taken + c->reserved + c->queued > 0 &&
	    used(c) > bound(c) + CALL_LEFT)
		return;
	atomic_store(&c->large, false);
	atomic_store(&token->wanted_ms, 0);
	atomic_store(&token->beyond, 0);
	atomic_store(&token->taken, false);
}

/* Whether the call may go beyond what there is of memory, as one may. What any
 * may have is waited for where other uses have it. Needs lock. */
static bool go_beyond(struct call *c, uint64_t size)
{
	struct memory_token *token = c->transport->token;

	if (atomic_load(&c->large))
		return true;
	if (used(c) < limit(c) / 64 && used(c) + size <= limit(c) / 4)
		return false;
	if (!atomic_load(&c->share->stalled))
		atomic_store(&c->large, !atomic_exchange(&token->taken, true));
	if (!atomic_load(&c->large))
		want(c);
	return atomic_load(&c->large);
}

/* The only message of a queue is there in any case. If it is large, and its
 * method did not ask before, it goes beyond what calls may have by the token,
 * so that others are not refused for it. Needs lock. */
static void count_first(struct call *c, uint64_t size)
{
	bool over = used_within(c) + size > bound(c);

	if (over && size > limit(c) / LARGE)
		(void)go_beyond(c, size);
	share_count(c, size);
	if (over && !atomic_load(&c->large))
		want(c);
}

bool share_has_room(struct call *c, size_t size)
{
	const struct server_options *o = c->transport->options;

	if (c->queued > 0 && c->queued + size > o->queue_max) {
		c->resume_below = o->queue_max / 2;
		return false;
	}
	if (c->queued > 0 && !take_within(c, size)) {
		c->resume_below = 0;
		return false;
	}
	if (c->queued == 0)
		count_first(c, size);
	c->queued += size;
	return true;
}

/* Who goes beyond all bounds does so by one row or request at a time: by none
 * while one is read. Needs lock. */
bool share_take(struct call *c, uint64_t size)
{
	if (take_within(c, size))
		return true;
	if (c->queued > limit(c) / LARGE || !go_beyond(c, size))
		return false;
	share_count(c, size);
	return true;
}

bool share_ask(struct call *c, uint64_t size)
{
	bool taken;

	pthread_mutex_lock(&c->lock);
	taken = share_take(c, size);
	pthread_mutex_unlock(&c->lock);
	return taken;
}

bool share_is_greedy(struct call *c)
{
	uint64_t wanted_ms = atomic_load(&c->transport->token->wanted_ms);
	uint64_t has;

	if (!wanted_ms || transport_ms() > wanted_ms + WANTED_MS)
		return false;
	pthread_mutex_lock(&c->lock);
	has = c->base + c->taken + c->reserved + c->queued;
	pthread_mutex_unlock(&c->lock);
	return atomic_load(&c->large) || has > CALL_SMALL;
}

/* Whether a handler may keep so much, more than before, while others may have
 * as much. */
static bool is_modest(struct call *c, uint64_t kept, uint64_t more)
{
	if (used_within(c) + more <= bound(c))
		return kept <= CALL_FREE;
	if (used_within(c) + more > reach(c))
		return false;
	return kept <= CALL_SMALL ||
	       (kept <= CALL_MEDIUM && !atomic_load(&c->share->stalled) &&
		atomic_load(&c->share->held) <= limit(c) / CLIENT_SMALL);
}

/* Counts up to what is kept, if that is allowed. Needs lock. */
static bool keep(struct call *c, uint64_t kept, bool in_any_case)
{
	uint64_t more = kept > c->reserved ? kept - c->reserved : 0;

	if (more > 0 && (in_any_case || is_modest(c, kept, more)))
		share_count(c, more);
	else if (more > 0 && !share_take(c, more))
		return false;
	c->reserved += more;
	c->kept = kept;
	return true;
}

bool call_take(struct call *c, size_t size)
{
	bool taken;

	pthread_mutex_lock(&c->lock);
	taken = keep(c, c->kept + size, false);
	if (!taken)
		c->wanted = c->kept + size;
	pthread_mutex_unlock(&c->lock);
	return taken;
}

void call_hold(struct call *c, size_t size)
{
	pthread_mutex_lock(&c->lock);
	(void)keep(c, c->kept + size, true);
	pthread_mutex_unlock(&c->lock);
}

void share_give(struct call *c, uint64_t size)
{
	assert(size <= c->kept);
	c->kept -= size;
	share_uncount(c, c->reserved - c->kept);
	c->reserved = c->kept;
	share_pass(c);
}

void call_give(struct call *c, size_t size)
{
	pthread_mutex_lock(&c->lock);
	share_give(c, size);
	pthread_mutex_unlock(&c->lock);
}

void share_give_all(struct call *c)
{
	pthread_mutex_lock(&c->lock);
	share_uncount(c, c->taken);
	c->taken = 0;
	share_give(c, c->kept);
	pthread_mutex_unlock(&c->lock);
}

bool share_may_begin(struct call *c)
{
	uint64_t most = c->taken > CALL_FREE ? limit(c) / 4 * 3 : reach(c);

	if (used_within(c) <= most)
		return true;
	want(c);
	return false;
}
