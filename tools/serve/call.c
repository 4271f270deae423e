#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/watch/requests.h"
#include "tools/serve/call_state.h"

/* How long a run may go on, in microseconds. */
#define SLICE_US 2000
/* Who waits for memory says so at each tick; after so long nobody does. */
#define WANTED_MS 1000
/* What handlers of a call may keep while calls have no more than their share
 * together, whatever others have: enough for a scan of rows that are small. */
#define CALL_FREE ((uint64_t)128 << 10)
/* Beyond that share, of what is left for who needs little: a write, or a read
 * of a small row; and of a client with little a read of some rows. */
#define CALL_SMALL ((uint64_t)8 << 10)
#define CALL_MEDIUM ((uint64_t)64 << 10)
/* Parts of the limit: a client that has no more has little, or next to nothing,
 * as who makes one short call after another. All clients that there may be have
 * a quarter together then. */
#define CLIENT_SMALL 64
#define CLIENT_TINY 1024
/* And a message of an answer that has more is a large one. */
#define LARGE 16
#define STREAM_SIZE 512 /* of nghttp2, more or less */

const char *call_path(const struct call *c)
{
	return c->route->path;
}

struct bytes call_message(const struct call *c)
{
	return buf_bytes(&c->request);
}

void *call_state(const struct call *c)
{
	return c->state;
}

void call_set_state(struct call *c, void *state)
{
	c->state = state;
}

bool call_cancelled(const struct call *c)
{
	return atomic_load_explicit(&c->cancelled, memory_order_relaxed) ||
	       call_is_late(c);
}

bool call_out_of_time(const struct call *c)
{
	return transport_us() >= c->out_of_time_us || call_cancelled(c);
}

bool call_is_inline(const struct call *c)
{
	return c->is_inline;
}

/* Tells the connection's thread, which looks by itself after a run in it. */
static void tell(struct call *c)
{
	if (!c->is_inline)
		inbox_put(&c->transport->inbox, &c->note);
}

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

void call_count(struct call *c, uint64_t size)
{
	atomic_fetch_add(&c->share->held, size);
	memory_hold(c->transport->options->memory, MEMORY_WIRE, size);
	if (atomic_load(&c->large))
		atomic_fetch_add(&c->transport->token->beyond, size);
}

static void uncount(struct call *c, uint64_t size)
{
	_Atomic uint64_t *beyond = &c->transport->token->beyond;

	atomic_fetch_sub(&c->share->held, size);
	memory_give(c->transport->options->memory, MEMORY_WIRE, size);
	/* What it had before it went beyond is not in that. */
	if (atomic_load(&c->large) && atomic_load(beyond) > size)
		atomic_fetch_sub(beyond, size);
	else if (atomic_load(&c->large))
		atomic_store(beyond, 0);
}

/* One client leaves others something, however much it asks for. */
static bool take_within(struct call *c, uint64_t size)
{
	struct memory *m = c->transport->options->memory;
	uint64_t held = atomic_fetch_add(&c->share->held, size) + size;

	if (held <= limit(c) / 4 && used(c) + size <= bound(c) &&
	    memory_take(m, MEMORY_WIRE, size, 0))
		return true;
	atomic_fetch_sub(&c->share->held, size);
	return false;
}

/* What one client sends unasked leaves others something, too. */
bool call_admit(struct call *c, uint64_t size)
{
	uint64_t arrived = atomic_load(&c->share->arrived) + size;
	uint64_t most = arrived <= limit(c) / CLIENT_TINY ? limit(c) / 4 * 3
							  : limit(c) / 8 * 5;

	if (used(c) + size > limit(c) / 2 &&
	    (used_within(c) + size > most || arrived > limit(c) / 16)) {
		want(c);
		return false;
	}
	call_count(c, size);
	atomic_fetch_add(&c->share->arrived, size);
	c->admitted += size;
	return true;
}

/* The token goes to others when the call has no more than any may have, and
 * that is not beyond what all may. Needs lock. */
static void pass_token(struct call *c)
{
	struct memory_token *token = c->transport->token;

	if (!atomic_load(&c->large) || c->taken > CALL_FREE ||
	    c->reserved > CALL_FREE ||
	    c->queued > c->transport->options->queue_max)
		return;
	if (c->taken + c->reserved + c->queued > 0 && used(c) > bound(c))
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
	bool over = used(c) + size > bound(c);

	if (over && size > limit(c) / LARGE)
		(void)go_beyond(c, size);
	call_count(c, size);
	if (over && !atomic_load(&c->large))
		want(c);
}

/* Whether a message of this size goes into the queue; then it is counted.
 * Needs lock. */
static bool has_room(struct call *c, size_t size)
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
static bool take_share(struct call *c, uint64_t size)
{
	if (take_within(c, size))
		return true;
	if (c->queued > limit(c) / LARGE || !go_beyond(c, size))
		return false;
	call_count(c, size);
	return true;
}

bool call_share(struct call *c, uint64_t size)
{
	bool taken;

	pthread_mutex_lock(&c->lock);
	taken = take_share(c, size);
	pthread_mutex_unlock(&c->lock);
	return taken;
}

bool call_is_greedy(struct call *c)
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
	if (used(c) + more <= bound(c))
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
		call_count(c, more);
	else if (more > 0 && !take_share(c, more))
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

/* Needs lock. */
static void give(struct call *c, uint64_t size)
{
	assert(size <= c->kept);
	c->kept -= size;
	uncount(c, c->reserved - c->kept);
	c->reserved = c->kept;
	pass_token(c);
}

void call_give(struct call *c, size_t size)
{
	pthread_mutex_lock(&c->lock);
	give(c, size);
	pthread_mutex_unlock(&c->lock);
}

void call_give_all(struct call *c)
{
	pthread_mutex_lock(&c->lock);
	uncount(c, c->taken);
	c->taken = 0;
	give(c, c->kept);
	pthread_mutex_unlock(&c->lock);
}

/* Whether a call may have its first run. A message of its answer it has in any
 * case, so that it waits while calls together have too much; not for what it
 * has much of itself, which only its run gives back. */
static bool may_begin(struct call *c)
{
	uint64_t most = c->taken > CALL_FREE ? limit(c) / 4 * 3 : reach(c);

	if (used_within(c) <= most)
		return true;
	want(c);
	return false;
}

bool call_retry(struct call *c)
{
	bool run, is_short;

	pthread_mutex_lock(&c->lock);
	if (c->wanted <= c->reserved)
		run = c->is_short && may_begin(c);
	else
		run = c->is_short && take_share(c, c->wanted - c->reserved);
	if (run && c->wanted > c->reserved)
		c->reserved = c->wanted;
	is_short = c->is_short &= !run;
	pthread_mutex_unlock(&c->lock);
	if (run)
		call_run_later(c);
	return is_short;
}

int call_send(struct call *c, struct buf *message)
{
	size_t size = message->capacity + sizeof(struct message);
	struct message *m;
	bool first;

	if (message->size > CALL_MESSAGE_MAX)
		return fail(EMSGSIZE, "an answer of %zu bytes", message->size);
	if (!call_may_tell(c, !c->is_inline)) {
		call_cancel(c, CALL_UNAVAILABLE, err_detail());
		return -ECANCELED;
	}
	m = malloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	pthread_mutex_lock(&c->lock);
	if (call_cancelled(c) || c->ended || !has_room(c, size)) {
		bool over = call_cancelled(c) || c->ended;

		pthread_mutex_unlock(&c->lock);
		free(m);
		return over ? -ECANCELED : -EAGAIN;
	}
	m->next = NULL;
	m->bytes = *message;
	grpc_prefix(m->prefix, (uint32_t)message->size);
	*message = (struct buf)BUF_INIT;
	first = !c->first;
	if (first)
		c->first = m;
	else
		c->last->next = m;
	c->last = m;
	pthread_mutex_unlock(&c->lock);
	if (first)
		tell(c);
	return 0;
}

/* The messages that are queued, but not current, are dropped. Needs lock. */
static void drop(struct call *c)
{
	struct message *m;

	while ((m = c->first)) {
		size_t size = m->bytes.capacity + sizeof(*m);

		c->first = m->next;
		c->queued -= size;
		uncount(c, size);
		buf_release(&m->bytes);
		free(m);
	}
}

void call_cancel(struct call *c, enum call_status status, const char *text)
{
	atomic_store(&c->cancelled, true);
	pthread_mutex_lock(&c->lock);
	if (!c->ended || c->first)
		call_set_end(c, status, text);
	drop(c);
	pthread_mutex_unlock(&c->lock);
}

void call_wake(struct call *c)
{
	bool parked;

	pthread_mutex_lock(&c->lock);
	parked = c->holder == HELD_PARKED;
	c->woken = !parked;
	if (parked)
		c->holder = HELD_BY_HANDLER;
	pthread_mutex_unlock(&c->lock);
	if (parked)
		pool_add(c->transport->pool, &c->job, true);
}

/* What the run ended with: who has the call now. The call is no more this
 * thread's after that, unless it runs inline. */
static void hand_on(struct call *c, enum call_result result)
{
	struct pool *pool = c->transport->pool;
	bool later = result == CALL_AGAIN;

	pthread_mutex_lock(&c->lock);
	if (result == CALL_PARKED) {
		later = c->woken;
		if (!later)
			c->holder = HELD_PARKED;
		c->woken = false;
	} else if (!later) {
		c->done = result == CALL_DONE;
		c->is_short = result == CALL_SHORT;
		c->holder = HELD_BY_CONNECTION;
		tell(c);
	}
	pthread_mutex_unlock(&c->lock);
	if (later)
		pool_add(pool, &c->job, true);
}

/* The state ends, and what it had of memory. */
static void end_state(struct call *c)
{
	if (c->state && c->route->release)
		c->route->release(c->state);
	c->state = NULL;
	pthread_mutex_lock(&c->lock);
	give(c, c->kept);
	pthread_mutex_unlock(&c->lock);
}

/* No run follows; if nothing was said, the call ends by that. */
static void finish(struct call *c)
{
	end_state(c);
	if (call_is_late(c))
		call_refuse(c, CALL_DEADLINE_EXCEEDED, CALL_TOO_LATE);
	call_refuse(c, CALL_INTERNAL, "The handler gave no answer.");
}

/* Whether the run has ended for want of memory, and the call has not. */
static bool lacks_memory(struct call *c)
{
	bool lacks;

	pthread_mutex_lock(&c->lock);
	lacks = c->wanted > 0 && !c->ended;
	pthread_mutex_unlock(&c->lock);
	return lacks && !call_cancelled(c);
}

/* Its place in the table of routes, from 1. */
static unsigned int kind_of(const struct call *c)
{
	return (unsigned int)(c->route - c->transport->routes) + 1;
}

/* A run begins; returns when. */
static uint64_t begin_run(struct call *c)
{
	uint64_t now = histogram_now_ns();

	if (!c->begun_ns && c->transport->options->calls)
		requests_begin(c->transport->options->calls, kind_of(c));
	if (!c->begun_ns)
		c->begun_ns = now;
	return now;
}

/* It has ended, and what it cost is added to the call's; of the last run the
 * call is counted. */
static void end_run(struct call *c, uint64_t began_ns,
		    const struct cost *before, bool is_last)
{
	struct requests *calls = c->transport->options->calls;
	uint64_t now = histogram_now_ns();
	struct cost taken = cost_since(before);

	c->busy_ns += now - began_ns;
	cost_add(&c->cost, &taken);
	if (is_last && calls)
		requests_end(calls, kind_of(c), now - c->begun_ns, c->busy_ns,
			     &c->cost);
	if (is_last)
		c->begun_ns = 0;
}

static void run(struct call *c)
{
	enum call_result result = CALL_DONE;
	struct cost before = thread_cost;
	uint64_t began_ns;
	bool rest;

	if (!c->begun_ns && !call_cancelled(c) && !may_begin(c)) {
		hand_on(c, CALL_SHORT);
		return;
	}
	began_ns = begin_run(c);
	pthread_mutex_lock(&c->lock);
	rest = c->rest;
	c->rest = false;
	c->wanted = 0;
	c->rested &= rest;
	pthread_mutex_unlock(&c->lock);
	if (!call_cancelled(c) && rest) {
		c->route->rest(c, c->transport->context);
		result = CALL_BLOCKED;
	} else if (!call_cancelled(c)) {
		result = c->route->run(c, c->transport->context);
	}
	if (result == CALL_DONE && lacks_memory(c)) {
		end_state(c);
		result = CALL_SHORT;
	} else if (result == CALL_DONE) {
		finish(c);
	}
	end_run(c, began_ns, &before, result == CALL_DONE);
	hand_on(c, result);
}

static void run_job(struct pool_job *job)
{
	struct call *c =
		(struct call *)((char *)job - offsetof(struct call, job));

	c->is_inline = false;
	c->out_of_time_us = transport_us() + SLICE_US;
	run(c);
}

/* The connection's thread, which alone calls this, has the call. */
static void hand_out(struct call *c)
{
	pthread_mutex_lock(&c->lock);
	assert(c->holder == HELD_BY_CONNECTION && !c->done);
	c->holder = HELD_BY_HANDLER;
	pthread_mutex_unlock(&c->lock);
}

void call_run_inline(struct call *c, uint64_t out_of_time_us)
{
	hand_out(c);
	c->is_inline = true;
	c->out_of_time_us = out_of_time_us;
	run(c);
}

void call_run_later(struct call *c)
{
	hand_out(c);
	pool_add(c->transport->pool, &c->job, false);
}

struct call *call_new(struct transport *t, struct connection *connection,
		      struct share *share, int32_t stream)
{
	struct call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->transport = t;
	c->connection = connection;
	c->share = share;
	atomic_fetch_add(&share->users, 1);
	c->stream = stream;
	c->http_status = 200;
	c->job.run = run_job;
	c->received_ms = c->piece_ms = transport_ms();
	c->resume_below = t->options->queue_max / 2;
	pthread_mutex_init(&c->lock, NULL);
	t->calls++;
	c->base = sizeof(*c) + STREAM_SIZE;
	c->unwelcome = !call_admit(c, c->base);
	/* It is here all the same, until the peer was told so. */
	if (c->unwelcome)
		call_count(c, c->base);
	return c;
}

void call_free(struct call *c)
{
	assert(c->holder == HELD_BY_CONNECTION && !c->state && !c->taken &&
	       !c->reserved);
	if (c->begun_ns && c->transport->options->calls)
		requests_end(c->transport->options->calls, kind_of(c),
			     histogram_now_ns() - c->begun_ns, c->busy_ns,
			     &c->cost);
	if (c->current)
		call_message_free(c, c->current);
	drop(c);
	atomic_fetch_sub(&c->share->arrived, c->admitted);
	uncount(c, c->base);
	share_put(c->share);
	buf_release(&c->headers);
	buf_release(&c->text);
	pthread_mutex_destroy(&c->lock);
	c->transport->calls--;
	free(c);
}

struct message *call_take_message(struct call *c)
{
	struct message *m;

	pthread_mutex_lock(&c->lock);
	m = c->first;
	if (m)
		c->first = m->next;
	pthread_mutex_unlock(&c->lock);
	return m;
}

void call_message_free(struct call *c, struct message *m)
{
	size_t size = m->bytes.capacity + sizeof(*m);

	pthread_mutex_lock(&c->lock);
	c->queued -= size;
	uncount(c, size);
	pass_token(c);
	pthread_mutex_unlock(&c->lock);
	buf_release(&m->bytes);
	free(m);
}
