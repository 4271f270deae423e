#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text/watch/requests.h"
#include "tools/serve/call_state.h"

/* How long a run may go on, in microseconds. */
#define SLICE_US 2000
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

bool call_retry(struct call *c)
{
	bool run, is_short;

	pthread_mutex_lock(&c->lock);
	if (c->wanted <= c->reserved)
		run = c->is_short && share_may_begin(c);
	else
		run = c->is_short && share_take(c, c->wanted - c->reserved);
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
	if (call_cancelled(c) || c->ended || !share_has_room(c, size)) {
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
		share_uncount(c, size);
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
	share_pass(c);
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
	share_give(c, c->kept);
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

	if (!c->begun_ns && !call_cancelled(c) && !share_may_begin(c)) {
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
	c->unwelcome = !share_admit(c, c->base);
	/* It is here all the same, until the peer was told so. */
	if (c->unwelcome)
		share_count(c, c->base);
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
	share_uncount(c, c->base);
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
	share_uncount(c, size);
	share_pass(c);
	pthread_mutex_unlock(&c->lock);
	buf_release(&m->bytes);
	free(m);
}
