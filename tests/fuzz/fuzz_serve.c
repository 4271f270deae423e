#include <errno.h>
#include <nghttp2/nghttp2.h>

#include "tests/fuzz/target.h"
#include "tools/serve/connection.h"

/*
 * A connection that is sent bytes, behind a preface, in pieces of which each
 * begins with its size. Calls run where they are, and time goes on with the
 * pieces. The connection may refuse whatever it likes, but has to give back
 * what it took.
 */
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

static enum call_result echo(struct call *c, void *context)
{
	struct buf b = BUF_INIT;
	struct bytes value;
	int err;

	(void)context;
	(void)call_header(c, "x", &value);
	MUST(buf_add_bytes(&b, call_message(c)) == 0);
	err = call_send(c, &b);
	buf_release(&b);
	call_fail(c, CALL_ABORTED, "%s: %d", call_path(c), err);
	return CALL_DONE;
}

static void end(void *state)
{
	free(state);
}

/* Sends the request back until nobody wants it. */
static enum call_result repeat(struct call *c, void *context)
{
	struct buf b = BUF_INIT;
	int err;

	(void)context;
	if (!call_state(c))
		call_set_state(c, malloc(1));
	do {
		MUST(buf_add_bytes(&b, call_message(c)) == 0);
		err = call_send(c, &b);
		buf_release(&b);
	} while (err == 0 && !call_out_of_time(c));
	MUST(err == 0 || err == -EAGAIN || err == -ECANCELED);
	return err == -EAGAIN ? CALL_BLOCKED
	       : err == 0     ? CALL_AGAIN
			      : CALL_DONE;
}

/* Keeps a thousand times what its request has. */
static enum call_result keep(struct call *c, void *context)
{
	size_t size = call_message(c).size * 1000;

	(void)context;
	if (!call_state(c))
		call_set_state(c, malloc(1));
	if (!call_take(c, size))
		return call_message(c).size % 2 ? CALL_SHORT : CALL_DONE;
	if (size % 3)
		call_give(c, size);
	call_end(c, CALL_OK, NULL);
	return CALL_DONE;
}

static const struct route routes[] = { { "/e", echo, NULL, NULL, SIZE_MAX },
				       { "/r", repeat, NULL, end, SIZE_MAX },
				       { "/k", keep, NULL, end, SIZE_MAX },
				       { NULL, NULL, NULL, NULL, 0 } };

static void settle(struct transport *t)
{
	struct connection *c;
	struct note *n;

	while ((n = inbox_take(&t->inbox)))
		(void)connection_settle((struct call *)n, &c);
}

static int feed(struct transport *t, struct connection *c, struct bytes data)
{
	uint64_t now_ms = transport_ms();
	struct bytes out;
	size_t size;
	int err = connection_receive(c, bytes_of(PREFACE, sizeof(PREFACE) - 1));

	while (err == 0 && data.size > 0) {
		size = data.data[0] + 1u;
		data = bytes_after(data, 1);
		if (size > data.size)
			size = data.size;
		err = connection_receive(c, bytes_of(data.data, size));
		data = bytes_after(data, size);
		settle(t);
		now_ms += size;
		if (err == 0)
			err = connection_tick(c, now_ms);
		/* Not after each piece, as when the peer reads late. */
		if (err < 0 || size % 3 == 0)
			continue;
		err = connection_output(c, &out);
		if (err == 0)
			connection_sent(c, out.size - size % 2 * out.size / 2);
	}
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pool *pool;
	struct server_options options;
	struct memory_token token = { .taken = false };
	struct transport t = { .options = &options,
			       .routes = routes,
			       .token = &token };
	struct connection *c;
	struct memory *memory;

	MUST(memory_new(1 << 20, &memory) == 0);
	server_options_init(&options, memory);
	options.control_burst = options.resets_burst = 100;
	options.request_ms = options.stall_ms = options.handshake_ms = 1000;
	options.queue_max = 1000;
	options.rest_ms = 100;
	MUST(pool || pool_new(1, &pool) == 0);
	t.pool = pool;
	MUST(inbox_init(&t.inbox) == 0);
	MUST(connection_new(&t, NULL, &c) == 0);
	if (feed(&t, c, bytes_of(data, size)) == 0 && size % 2)
		(void)connection_stop(c, STOP_CALLS);
	connection_free(c);
	while (t.calls > 0)
		settle(&t);
	inbox_release(&t.inbox);
	MUST(memory_used(memory, MEMORY_WIRE) == 0 && !token.taken);
	memory_free(memory);
	return 0;
}
