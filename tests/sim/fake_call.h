#ifndef TESTS_SIM_FAKE_CALL_H
#define TESTS_SIM_FAKE_CALL_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/serve/method/method.h"
#include "tools/serve/verb/routes.h"

/*
 * Calls without a network: the functions of tools/serve/call.h, for a test that
 * says itself when a peer takes no more and whose turn it is. A program that
 * includes this has no server. What a handler must not do aborts.
 */
#define FAKE_MUST(condition)      \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

#define FAKE_MESSAGES_MAX 4096

struct call {
	const struct route *route;
	struct bytes request;
	void *state;
	struct buf messages[FAKE_MESSAGES_MAX];
	size_t count;
	bool ended, cancelled, is_inline, hurried;
	bool refuses;  /* every second message, once */
	bool refused;  /* the last one */
	bool is_short; /* of memory beyond granted, which is what it lacked */
	bool lacked;
	bool is_hard; /* what is given back is granted no more */
	uint64_t kept, granted, wanted;
	unsigned int runs, rests;
	void (*at_rest)(void); /* NULL: nothing happens meanwhile */
	enum call_status status;
	char text[1024];
};

const char *call_path(const struct call *c)
{
	return c->route->path;
}

struct bytes call_message(const struct call *c)
{
	return c->request;
}

bool call_header(const struct call *c, const char *name, struct bytes *value)
{
	(void)c;
	(void)name;
	(void)value;
	return false;
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
	return c->cancelled;
}

bool call_out_of_time(const struct call *c)
{
	return c->hurried;
}

bool call_is_inline(const struct call *c)
{
	return c->is_inline;
}

int call_send(struct call *c, struct buf *message)
{
	if (c->refuses && !c->refused && c->count % 2 == 1) {
		c->refused = true;
		return -EAGAIN;
	}
	c->refused = false;
	FAKE_MUST(c->count < FAKE_MESSAGES_MAX);
	c->messages[c->count++] = *message;
	*message = (struct buf)BUF_INIT;
	return 0;
}

bool call_take(struct call *c, size_t size)
{
	if (c->is_short && c->kept + size > c->granted) {
		c->wanted = c->kept + size;
		c->lacked = true;
		return false;
	}
	c->kept += size;
	return true;
}

void call_hold(struct call *c, size_t size)
{
	c->kept += size;
}

void call_give(struct call *c, size_t size)
{
	FAKE_MUST(size <= c->kept);
	c->kept -= size;
	if (c->is_hard)
		c->granted = c->kept;
}

/* Before a run: what the one before lacked is there. */
static inline void fake_grant(struct call *c)
{
	if (c->lacked)
		c->granted = c->wanted;
	c->lacked = false;
}

void call_committed(struct call *c)
{
	(void)c;
}

void call_end(struct call *c, enum call_status status, const char *text)
{
	FAKE_MUST(!c->ended);
	c->ended = true;
	c->status = status;
	snprintf(c->text, sizeof(c->text), "%s", text ? text : "");
}

void call_fail(struct call *c, enum call_status status, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	call_end(c, status, text);
}

void call_wake(struct call *c)
{
	(void)c;
	abort();
}

static inline const struct route *fake_route(const char *method)
{
	const struct route *r;

	for (r = routes; r->path; r++)
		if (!strcmp(strrchr(r->path, '/') + 1, method))
			return r;
	fprintf(stderr, "no method %s\n", method);
	abort();
}

static inline void fake_end_state(struct call *c)
{
	FAKE_MUST(!c->state || c->route->release);
	if (c->state)
		c->route->release(c->state);
	c->state = NULL;
	c->kept = 0;
}

/* Runs the call until it is done, as a server would; where it is blocked, its
 * state rests. */
static inline void fake_run(struct call *c, struct service *service)
{
	enum call_result result;

	do {
		fake_grant(c);
		result = c->route->run(c, service);
		FAKE_MUST(result != CALL_PARKED);
		FAKE_MUST(result != CALL_SHORT || c->lacked);
		if (result == CALL_DONE && !c->ended && c->lacked) {
			fake_end_state(c);
			result = CALL_SHORT;
		}
		FAKE_MUST(c->ended == (result == CALL_DONE));
		if (result == CALL_BLOCKED && c->route->rest) {
			c->route->rest(c, service);
			c->rests++;
			if (c->at_rest)
				c->at_rest();
		}
		if (result == CALL_AGAIN || result == CALL_SHORT)
			c->is_inline = false;
		c->runs++;
	} while (result != CALL_DONE);
	fake_end_state(c);
}

static inline void fake_release(struct call *c)
{
	while (c->count > 0)
		buf_release(&c->messages[--c->count]);
}

#endif
