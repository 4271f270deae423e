#ifndef TESTS_UNIT_SERVE_FIXTURE_H
#define TESTS_UNIT_SERVE_FIXTURE_H

/*
 * A server with methods that do what handlers may, and counters of what became
 * of their calls. A test sets options before begin(), and has the memory given
 * back to its account when it ends.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "store/base/coding.h"
#include "store/base/memory.h"
#include "tests/sim/grpc_client.h"
#include "tests/unit/suite.h"
#include "tools/serve/grpc.h"
#include "tools/serve/server.h"

#define MEMORY_LIMIT (64 << 20)

static struct server_options options;
static struct server *server;
static struct memory *memory;
/* starts are of calls with a state, each of which has to be released. */
static atomic_uint runs, starts, releases, rests;
static _Atomic(struct call *) parked;

/* Bounds of time are so many times as long. */
static inline unsigned int slow(void)
{
	const char *n = getenv("SLOW");

	return n && atoi(n) > 0 ? (unsigned int)atoi(n) : 1;
}

/* Waits until the condition holds, and fails if it does not in a minute. */
#define UNTIL(condition)                                                      \
	do {                                                                  \
		unsigned int tries_ = 0;                                      \
		while (!(condition)) {                                        \
			ck_assert_msg(tries_++ < 60000 * slow(), "never: %s", \
				      #condition);                            \
			usleep(1000);                                         \
		}                                                             \
	} while (0)

static enum call_result echo(struct call *c, void *context)
{
	struct buf b = BUF_INIT;

	(void)context;
	runs++;
	ck_assert_int_eq(buf_add_bytes(&b, call_message(c)), 0);
	if (call_send(c, &b) < 0)
		buf_release(&b);
	call_end(c, CALL_OK, NULL);
	return CALL_DONE;
}

/* What the header "x-want" says, as the text of its status. */
static enum call_result refuse(struct call *c, void *context)
{
	struct bytes want = BYTES_NONE;
	char text[4096];

	(void)context;
	runs++;
	ck_assert(call_header(c, "x-want", &want));
	ck_assert(!call_header(c, "x-wan", &want));
	snprintf(text, sizeof(text), "%.*s", (int)want.size,
		 (const char *)want.data);
	call_end(c, CALL_ABORTED, text);
	return CALL_DONE;
}

/* A stream: as many messages, of such a size. */
struct stream {
	uint32_t left, size;
	struct buf next;
};

static void end_stream(void *state)
{
	struct stream *s = state;

	releases++;
	buf_release(&s->next);
	free(s);
}

static enum call_result stream(struct call *c, void *context)
{
	struct stream *s = call_state(c);

	(void)context;
	runs++;
	if (!s) {
		starts++;
		s = calloc(1, sizeof(*s));
		ck_assert_uint_eq(call_message(c).size, 8);
		s->left = get_u32be(call_message(c).data);
		s->size = get_u32be(call_message(c).data + 4);
		call_set_state(c, s);
	}
	for (; s->left > 0; s->left--) {
		int err;

		if (s->next.size == 0) {
			ck_assert_int_eq(buf_reserve(&s->next, s->size), 0);
			memset(s->next.data, (int)s->left & 255, s->size);
			s->next.size = s->size;
		}
		err = call_send(c, &s->next);
		if (err == -ECANCELED)
			return CALL_DONE;
		if (err == -EAGAIN)
			return CALL_BLOCKED;
		ck_assert_int_eq(err, 0);
		if (call_out_of_time(c))
			return s->left--, CALL_AGAIN;
	}
	call_end(c, CALL_OK, NULL);
	return CALL_DONE;
}

/* The first message of a stream, which is counted before it is sent. */
static enum call_result keep_stream(struct call *c, void *context)
{
	size_t size = get_u32be(call_message(c).data + 4);

	if (!call_state(c) && !call_take(c, size))
		return CALL_SHORT;
	return stream(c, context);
}

/* As a scan: what it is decoded to, and then each message before there is one.
 * Without memory it has only the former. Grow has no more until the gate is
 * open. */
static atomic_bool gate;
#define SCAN_BASE ((size_t)4 << 10)
static enum call_result scan(struct call *c, void *context)
{
	struct stream *s = call_state(c);
	int err;

	(void)context;
	if (!s) {
		if (!call_take(c, SCAN_BASE))
			return CALL_SHORT;
		starts++;
		s = calloc(1, sizeof(*s));
		s->left = get_u32be(call_message(c).data);
		s->size = get_u32be(call_message(c).data + 4);
		call_set_state(c, s);
	}
	if (!gate && strcmp(call_path(c), "/t/Grow") == 0)
		return CALL_AGAIN;
	for (; s->left > 0; s->left--) {
		if (s->next.size == 0) {
			if (!call_take(c, s->size))
				return CALL_SHORT;
			ck_assert_int_eq(buf_fit(&s->next, s->size), 0);
			s->next.size = s->size;
			memset(s->next.data, 's', s->size);
		}
		err = call_send(c, &s->next);
		if (err < 0)
			return err == -EAGAIN ? CALL_BLOCKED : CALL_DONE;
		call_give(c, s->size);
	}
	call_end(c, CALL_OK, NULL);
	return CALL_DONE;
}

static void rest_stream(struct call *c, void *context)
{
	(void)context;
	ck_assert_ptr_nonnull(call_state(c));
	rests++;
}

/* Until it is cancelled. */
static enum call_result work(struct call *c, void *context)
{
	(void)context;
	runs++;
	if (!call_state(c)) {
		starts++;
		call_set_state(c, calloc(1, sizeof(struct stream)));
	}
	while (!call_out_of_time(c))
		;
	return call_cancelled(c) ? CALL_DONE : CALL_AGAIN;
}

/* Parked until the test wakes it. */
static enum call_result park(struct call *c, void *context)
{
	(void)context;
	runs++;
	if (call_state(c)) {
		call_end(c, CALL_OK, NULL);
		return CALL_DONE;
	}
	call_set_state(c, calloc(1, sizeof(struct stream)));
	parked = c;
	starts++;
	return CALL_PARKED;
}

/* Woken before it is parked. */
static enum call_result wake(struct call *c, void *context)
{
	(void)context;
	runs++;
	if (call_state(c)) {
		call_end(c, CALL_OK, NULL);
		return CALL_DONE;
	}
	call_set_state(c, calloc(1, sizeof(struct stream)));
	call_wake(c);
	return CALL_PARKED;
}

static enum call_result say_nothing(struct call *c, void *context)
{
	(void)c;
	(void)context;
	return CALL_DONE;
}

/* Says by is_inline, which it asks, where it runs. */
static enum call_result where(struct call *c, void *context)
{
	(void)context;
	if (call_is_inline(c) && call_message(c).size > 4)
		return CALL_AGAIN;
	call_fail(c, CALL_OK, "%s %s", call_path(c),
		  call_is_inline(c) ? "inline" : "later");
	return CALL_DONE;
}

/* As many pieces of memory as the message says, kept until the gate is open.
 * Without a state: it begins anew when it was short. */
#define KEEP_PIECE ((size_t)1 << 20)
static atomic_uint keepers, shorts;

static enum call_result keep(struct call *c, void *context)
{
	size_t pieces = get_u32be(call_message(c).data), i;

	(void)context;
	for (i = 0; i < pieces; i++) {
		if (call_take(c, KEEP_PIECE))
			continue;
		shorts++;
		if (strcmp(call_path(c), "/t/KeepAnew") == 0)
			return CALL_DONE;
		call_give(c, i * KEEP_PIECE);
		return CALL_SHORT;
	}
	keepers++;
	while (!gate && !call_cancelled(c))
		usleep(1000);
	keepers--;
	if (call_message(c).data[4])
		call_give(c, pieces * KEEP_PIECE);
	call_end(c, CALL_OK, NULL);
	return CALL_DONE;
}

static const struct route routes[] = {
	{ "/t/Echo", echo, NULL, NULL, 1000 },
	{ "/t/EchoLater", echo, NULL, NULL, 0 },
	{ "/t/Refuse", refuse, NULL, NULL, 1000 },
	{ "/t/Stream", stream, rest_stream, end_stream, 0 },
	{ "/t/StreamInline", stream, rest_stream, end_stream, 1000 },
	{ "/t/Work", work, NULL, end_stream, 0 },
	{ "/t/Park", park, NULL, end_stream, 1000 },
	{ "/t/Wake", wake, NULL, end_stream, 1000 },
	{ "/t/Silent", say_nothing, NULL, NULL, 1000 },
	{ "/t/Where", where, NULL, NULL, 10 },
	{ "/t/Keep", keep, NULL, NULL, 0 },
	{ "/t/KeepAnew", keep, NULL, NULL, 0 },
	{ "/t/KeepStream", keep_stream, NULL, end_stream, 0 },
	{ "/t/Scan", scan, rest_stream, end_stream, 0 },
	{ "/t/Grow", scan, rest_stream, end_stream, 0 },
	{ NULL, NULL, NULL, NULL, 0 }
};

static void setup(void)
{
	ck_assert_int_eq(memory_new(MEMORY_LIMIT, &memory), 0);
	server_options_init(&options, memory);
	options.listen = ":0";
	server = NULL;
}

static inline void begin(void)
{
	ck_assert_int_eq(server_new(&options, routes, NULL, &server), 0);
	ck_assert_int_eq(server_start(server), 0);
}

static void teardown(void)
{
	server_free(server);
	memory_free(memory);
}

/* The message of a stream, in memory of the caller's. */
static inline struct bytes stream_of(uint8_t out[8], uint32_t count,
				     uint32_t size)
{
	put_u32be(out, count);
	put_u32be(out + 4, size);
	return bytes_of(out, 8);
}

/* What a connection begins with. */
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

/* A frame of HTTP/2: its head and payload. */
static inline void add_frame(struct buf *b, size_t size, uint8_t type,
			     uint8_t flags, uint32_t stream,
			     const void *payload)
{
	uint8_t head[9] = { (uint8_t)(size >> 16), (uint8_t)(size >> 8),
			    (uint8_t)size, type, flags };

	put_u32be(head + 5, stream);
	ck_assert_int_eq(buf_add(b, head, sizeof(head)), 0);
	ck_assert_int_eq(buf_add(b, payload, size), 0);
}

/* Until the server has closed the connection. */
static inline void wait_gone(struct grpc_client *c)
{
	UNTIL(!grpc_turn(c, 1) && c->gone);
}

/* The server goes on. */
static inline void check_alive(void)
{
	struct grpc_client c;
	struct grpc_call call = { .path = "/t/EchoLater" };

	grpc_open(&c, server_address(server));
	ck_assert_int_eq(grpc_do(&c, &call), CALL_OK);
	grpc_release(&call);
	grpc_close(&c);
}

#endif
