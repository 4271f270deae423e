#include <stdio.h>
#include <string.h>

#include "store/base/err.h"
#include "tools/serve/request.h"

/* Of call.h: what request_header has put there. */
bool call_header(const struct call *c, const char *name, struct bytes *value)
{
	const char *at = (const char *)c->headers.data;
	const char *end = at + c->headers.size;

	while (at < end) {
		const char *text = at + strlen(at) + 1;

		if (strcmp(at, name) == 0) {
			*value = bytes_string(text);
			return true;
		}
		at = text + strlen(text) + 1;
	}
	return false;
}

static void refuse(struct call *c, enum call_status status, const char *text)
{
	c->complete = true;
	c->done = true;
	c->starved = false;
	call_refuse(c, status, text);
}

void request_header(struct call *c, struct bytes name, struct bytes value)
{
	struct buf *b = &c->headers;
	size_t size = name.size + value.size + 2, before = b->capacity;

	if (c->metadata_over || c->unwelcome)
		return;
	if (b->size + size > REQUEST_METADATA_MAX) {
		c->metadata_over = true;
		return;
	}
	if (buf_reserve(b, size) < 0 || !share_admit(c, b->capacity - before)) {
		c->unwelcome = true;
		buf_release(b);
		return;
	}
	c->base += b->capacity - before;
	(void)buf_add_bytes(b, name);
	(void)buf_add_byte(b, 0);
	(void)buf_add_bytes(b, value);
	(void)buf_add_byte(b, 0);
}

/* Clients print the sentence, and some of them not what they asked for. */
static void refuse_unknown(struct call *c)
{
	struct bytes path = BYTES_NONE;
	char text[256];

	(void)call_header(c, ":path", &path);
	snprintf(text, sizeof(text), "There is no method %s here.",
		 err_name(path));
	refuse(c, CALL_UNIMPLEMENTED, text);
}

static bool header_is(const struct call *c, const char *name, const char *want)
{
	struct bytes value;

	return call_header(c, name, &value) &&
	       bytes_equal(value, bytes_string(want));
}

static const struct route *find_route(const struct call *c)
{
	const struct route *r = c->transport->routes;
	struct bytes path;

	if (!call_header(c, ":path", &path))
		return NULL;
	/* What follows a NUL cannot be: values have none. */
	while (r->path && strcmp(r->path, (const char *)path.data) != 0)
		r++;
	return r->path ? r : NULL;
}

void request_head(struct call *c)
{
	struct bytes value;
	uint64_t timeout_us;

	if (c->unwelcome) {
		refuse(c, CALL_UNAVAILABLE,
		       "There is no memory for one more call now.");
		return;
	}
	if (c->metadata_over) {
		refuse(c, CALL_RESOURCE_EXHAUSTED,
		       "The metadata has more than 16384 bytes.");
		return;
	}
	if (!header_is(c, ":method", "POST")) {
		c->http_status = 405;
		refuse(c, CALL_INTERNAL, "The method is not POST.");
		return;
	}
	if (!call_header(c, "content-type", &value) ||
	    !grpc_content_type(value)) {
		c->http_status = 415;
		refuse(c, CALL_INTERNAL,
		       "The content-type is not application/grpc.");
		return;
	}
	c->route = find_route(c);
	if (!c->route) {
		refuse_unknown(c);
		return;
	}
	if (!call_header(c, "grpc-timeout", &value))
		return;
	if (grpc_timeout(value, &timeout_us) < 0)
		refuse(c, CALL_INTERNAL, "The grpc-timeout is malformed.");
	else
		c->deadline_us = transport_us() + timeout_us;
}

/* So much more is counted. No more is allocated. */
static void add_piece(struct call *c, uint64_t size)
{
	c->taken += size;
	c->piece_ms = c->received_ms;
	if (buf_fit(&c->request, c->taken) < 0)
		refuse(c, CALL_RESOURCE_EXHAUSTED,
		       "There is no memory for the request.");
}

/* Whether there is memory for the next piece of the message; then it is
 * counted. */
static bool reserve(struct call *c)
{
	uint64_t next = grpc_prefix_size(c->prefix) - c->taken;

	if (next > REQUEST_PIECE)
		next = REQUEST_PIECE;
	if (!share_ask(c, next))
		return false;
	add_piece(c, next);
	return true;
}

/* The prefix is whole: room for what it announces. Of a long message only as
 * its bytes come, as nobody knows whether they do; the first come unasked. */
static void announced(struct call *c)
{
	uint32_t size = grpc_prefix_size(c->prefix);
	uint32_t first = size < REQUEST_WINDOW ? size : REQUEST_WINDOW;

	if (c->prefix[0] == 1)
		refuse(c, CALL_UNIMPLEMENTED,
		       "The request is compressed, which is not known here.");
	else if (c->prefix[0] != 0)
		refuse(c, CALL_INTERNAL, "The request's prefix is malformed.");
	else if (size > CALL_MESSAGE_MAX)
		refuse(c, CALL_RESOURCE_EXHAUSTED,
		       "The request is larger than 257 MiB.");
	else if (!share_admit(c, first))
		refuse(c, CALL_UNAVAILABLE,
		       "There is no memory for the request now.");
	else
		add_piece(c, first);
	if (!c->complete && size > first)
		c->starved = !reserve(c);
}

/* Takes the next piece before the last one is full, so that the peer need not
 * wait for its window. */
static void reserve_ahead(struct call *c)
{
	uint32_t size = grpc_prefix_size(c->prefix);

	if (!c->complete && !c->starved && c->taken < size &&
	    c->request.size + REQUEST_PIECE / 2 > c->taken)
		c->starved = !reserve(c);
}

void request_data(struct call *c, struct bytes data)
{
	size_t n;

	if (c->complete)
		return;
	n = GRPC_PREFIX_SIZE - c->prefix_size;
	if (n > data.size)
		n = data.size;
	if (n > 0) {
		memcpy(c->prefix + c->prefix_size, data.data, n);
		c->prefix_size += n;
		data = bytes_after(data, n);
		if (c->prefix_size == GRPC_PREFIX_SIZE)
			announced(c);
		if (c->complete || c->prefix_size < GRPC_PREFIX_SIZE)
			return;
	}
	if (data.size > grpc_prefix_size(c->prefix) - c->request.size)
		refuse(c, CALL_INTERNAL,
		       "The request has bytes behind its "
		       "message.");
	else if (buf_add_bytes(&c->request, data) < 0)
		refuse(c, CALL_RESOURCE_EXHAUSTED,
		       "There is no memory for the request.");
	else
		reserve_ahead(c);
}

bool request_retry(struct call *c)
{
	c->starved = !reserve(c);
	return !c->starved;
}

bool request_is_too_slow(struct call *c, uint64_t now_ms)
{
	return !c->complete && !c->starved &&
	       now_ms > c->piece_ms + c->transport->options->piece_ms &&
	       share_is_greedy(c);
}

uint32_t request_window(const struct call *c)
{
	uint64_t size = c->taken + GRPC_PREFIX_SIZE;

	return !c->complete && !c->starved && size > REQUEST_WINDOW
		       ? (uint32_t)size
		       : 0;
}

void request_end(struct call *c)
{
	if (c->complete)
		return;
	if (c->prefix_size < GRPC_PREFIX_SIZE ||
	    c->request.size < grpc_prefix_size(c->prefix))
		refuse(c, CALL_INTERNAL,
		       "The request ends before its message does.");
	c->complete = true;
}

bool request_over(struct call *c)
{
	bool held, run, over;

	pthread_mutex_lock(&c->lock);
	held = c->holder != HELD_BY_CONNECTION || c->ready;
	over = c->done || atomic_load(&c->cancelled);
	run = !held && !c->done && c->state;
	pthread_mutex_unlock(&c->lock);
	if (held || !over)
		return false;
	if (run) {
		call_run_later(c);
		return false;
	}
	share_give_all(c);
	buf_release(&c->request);
	return true;
}
