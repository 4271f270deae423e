#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/serve_fixture.h"

/* What a peer can have of the server, how long it is waited for, and who may
 * be a peer at all. */

static struct grpc_client client;

static void open_client(void)
{
	begin();
	grpc_open(&client, server_address(server));
}

static void start_bytes(struct buf *b)
{
	ck_assert_int_eq(buf_add_string(b, PREFACE), 0);
	add_frame(b, 0, NGHTTP2_SETTINGS, 0, 0, NULL);
}

/* Whether the last of these frames is a GOAWAY for doing too much. */
static bool told_to_calm(const struct buf *frames)
{
	const uint8_t *at = frames->data, *end = at + frames->size;
	bool told = false;

	while (end - at >= 9 && end - at >= 9 + (get_u32be(at) >> 8)) {
		told = at[3] == NGHTTP2_GOAWAY &&
		       get_u32be(at + 13) == NGHTTP2_ENHANCE_YOUR_CALM;
		at += 9 + (get_u32be(at) >> 8);
	}
	return told;
}

/* Sends bytes so many times, and reads, until the server has closed: whether it
 * said that it was too much. */
static bool send_until_told(int fd, struct buf *b, unsigned int times)
{
	struct buf got = BUF_INIT;
	uint8_t part[4096];
	unsigned int i = 0;
	bool told;

	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (;;) {
		ssize_t n = i < times ? send(fd, b->data, b->size, MSG_NOSIGNAL)
				      : 0;

		if (n < 0 && errno != EAGAIN)
			break;
		/* A part may have gone out: the rest does not matter. */
		i += n > 0;
		n = recv(fd, part, sizeof(part), 0);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			break;
		if (n > 0)
			ck_assert_int_eq(buf_add(&got, part, (size_t)n), 0);
		if (i >= times)
			usleep(1000);
	}
	told = told_to_calm(&got);
	buf_release(&got);
	return told;
}

static void send_until_closed(int fd, struct buf *b, unsigned int times)
{
	(void)send_until_told(fd, b, times);
}

/* What the server holds for one that does not read is bounded, others go on,
 * the handler is told to rest, and in the end the call is given up. */
static void check_stalled(const char *path, uint32_t size)
{
	uint8_t message[8];
	struct grpc_call call = { .path = path };
	/* With the call itself, and what is on its way to the socket. */
	uint64_t most = options.queue_max + 2 * (uint64_t)size + 100000;

	open_client();
	client.stalled = true;
	call.message = stream_of(message, 1 << 30, size);
	grpc_start(&client, &call);
	while (!rests) {
		ck_assert_uint_le(memory_used(memory, MEMORY_WIRE), most);
		(void)grpc_turn(&client, 10);
	}
	check_alive();
	ck_assert(grpc_wait(&client, &call));
	ck_assert(call.status == CALL_UNAVAILABLE ||
		  call.error == NGHTTP2_INTERNAL_ERROR);
	UNTIL(releases == 1);
	ck_assert_uint_eq(rests, 1);
	grpc_release(&call);
	grpc_close(&client);
}

START_TEST(a_stalled_reader_costs_its_own_queue)
{
	options.rest_ms = 100;
	options.stall_ms = 500 * slow();
	check_stalled("/t/Stream", 1000);
}
END_TEST

START_TEST(a_stalled_reader_of_large_messages)
{
	options.rest_ms = 100;
	options.stall_ms = 500 * slow();
	check_stalled("/t/Stream", 1 << 20);
}
END_TEST

START_TEST(streams_and_connections_are_counted)
{
	struct grpc_client c[3];
	struct grpc_call calls[6] = { 0 }, again = { .path = "/t/Echo" };
	unsigned int i;

	options.connections_max = 2;
	options.streams_max = 5;
	options.loops = 1;
	begin();
	grpc_open(&c[0], server_address(server));
	/* By the second call the server's settings are known. */
	ck_assert_int_eq(grpc_do(&c[0], &again), CALL_OK);
	grpc_release(&again);
	for (i = 0; i < 6; i++) {
		calls[i].path = "/t/Work";
		grpc_start(&c[0], &calls[i]);
	}
	while (starts < 5)
		(void)grpc_turn(&c[0], 10);
	/* The sixth was not sent: its stream would be one too many. */
	ck_assert_uint_eq(
		nghttp2_session_get_remote_settings(
			c[0].session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
		5);
	grpc_open(&c[1], server_address(server));
	again = (struct grpc_call){ .path = "/t/Echo" };
	ck_assert_int_eq(grpc_do(&c[1], &again), CALL_OK);
	grpc_release(&again);
	grpc_open(&c[2], server_address(server));
	wait_gone(&c[2]);
	ck_assert_uint_eq(c[2].goaway, NGHTTP2_ENHANCE_YOUR_CALM);
	ck_assert_str_eq(c[2].why, "there are 2 connections, and no more");
	grpc_close(&c[2]);
	grpc_close(&c[1]);
	grpc_close(&c[0]);
	UNTIL(releases == 5);
	ck_assert_uint_eq(starts, 5);
}
END_TEST

/* The block of a head that asks for /t/Work. */
static const uint8_t work_head[] = { 0x83, 0x86, 0x44, 0x07, '/',  't',  '/',
				     'W',  'o',  'r',  'k',  0x41, 0x01, 'x',
				     0x5f, 0x10, 'a',  'p',  'p',  'l',  'i',
				     'c',  'a',  't',  'i',  'o',  'n',  '/',
				     'g',  'r',  'p',  'c' };

static void add_head(struct buf *b, uint32_t stream)
{
	add_frame(b, sizeof(work_head), NGHTTP2_HEADERS,
		  NGHTTP2_FLAG_END_HEADERS, stream, work_head);
}

/* Streams that the client opens although it knows better. */
START_TEST(a_stream_too_many_is_refused)
{
	static const uint8_t message[5] = { 0 };
	struct buf b = BUF_INIT;
	uint32_t i;
	int fd;

	options.streams_max = 5;
	begin();
	start_bytes(&b);
	for (i = 0; i < 50; i++) {
		add_head(&b, 2 * i + 1);
		add_frame(&b, sizeof(message), NGHTTP2_DATA,
			  NGHTTP2_FLAG_END_STREAM, 2 * i + 1, message);
	}
	fd = grpc_socket(server_address(server));
	ck_assert_int_eq(send(fd, b.data, b.size, 0), b.size);
	UNTIL(starts >= 5);
	/* For those that should not run. */
	usleep(100000);
	close(fd);
	UNTIL(releases == 5);
	ck_assert_uint_eq(starts, 5);
	buf_release(&b);
	check_alive();
}
END_TEST

START_TEST(resets_are_counted)
{
	enum { COUNT = 2000 };
	static struct grpc_call calls[COUNT];
	size_t i;

	options.resets_burst = 100;
	options.resets_rate = 1;
	open_client();
	for (i = 0; i < COUNT && !client.gone; i++) {
		calls[i].path = "/t/Work";
		grpc_start(&client, &calls[i]);
		(void)grpc_turn(&client, 0);
		grpc_cancel(&client, &calls[i]);
		(void)grpc_turn(&client, 0);
	}
	wait_gone(&client);
	ck_assert_uint_eq(client.goaway, NGHTTP2_ENHANCE_YOUR_CALM);
	grpc_close(&client);
	check_alive();
}
END_TEST

/* Frames that cost the server and bring nothing: the connection is closed. */
START_TEST(floods_are_ended)
{
	static const uint8_t zeros[65536];
	struct buf b = BUF_INIT;
	unsigned int kind;
	int fd;

	options.control_burst = 100;
	options.control_rate = 1;
	begin();
	for (kind = 0; kind < 5; kind++) {
		buf_reset(&b);
		fd = grpc_socket(server_address(server));
		start_bytes(&b);
		if (kind == 3)
			add_frame(&b, 1, NGHTTP2_HEADERS, 0, 1, "\x83");
		ck_assert_int_eq(send(fd, b.data, b.size, 0), b.size);
		buf_reset(&b);
		switch (kind) {
		case 0:
			add_frame(&b, 0, NGHTTP2_SETTINGS, 0, 0, NULL);
			break;
		case 1:
			add_frame(&b, 5, NGHTTP2_PRIORITY, 0, 3, zeros);
			break;
		case 2:
			/* Nobody reads the answers of these. */
			add_frame(&b, 6, NGHTTP2_SETTINGS, 0, 0, zeros);
			break;
		case 3:
			add_frame(&b, 1, NGHTTP2_CONTINUATION, 0, 1, "\x86");
			break;
		case 4:
			/* A type that nobody knows. */
			add_frame(&b, 1, 0x42, 0, 0, zeros);
			break;
		}
		ck_assert_msg(send_until_told(fd, &b, 100000),
			      "flood %u is ended without a word", kind);
		close(fd);
		check_alive();
	}
	buf_release(&b);
}
END_TEST

/* The same of streams: one that is open gets padding alone, and ever more are
 * opened than there may be. */
START_TEST(floods_of_streams_are_ended)
{
	struct buf b = BUF_INIT;
	unsigned int kind;
	uint32_t i;
	int fd;

	options.streams_max = 1;
	options.control_burst = 100;
	options.control_rate = 1;
	begin();
	for (kind = 0; kind < 3; kind++) {
		buf_reset(&b);
		start_bytes(&b);
		add_head(&b, 1);
		add_head(&b, 3);
		fd = grpc_socket(server_address(server));
		ck_assert_int_eq(send(fd, b.data, b.size, 0), b.size);
		buf_reset(&b);
		if (kind == 0)
			add_frame(&b, 4, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1,
				  "\3\0\0");
		else if (kind == 1)
			add_frame(&b, 1, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1,
				  "");
		for (i = 0; kind == 2 && i < 1000; i++)
			add_head(&b, 2 * i + 5);
		ck_assert_msg(send_until_told(fd, &b, kind == 2 ? 1 : 10000),
			      "flood %u of streams goes on", kind);
		close(fd);
		check_alive();
	}
	buf_release(&b);
}
END_TEST

/* Each is answered: clients measure by them, some after each frame. */
START_TEST(pings_are_answered)
{
	unsigned int i;

	options.control_burst = 10;
	options.control_rate = 1;
	open_client();
	for (i = 0; i < 10000; i++) {
		grpc_ping(&client);
		if (i % 100 == 99)
			(void)grpc_turn(&client, 0);
	}
	while (client.pongs < 10000)
		ck_assert(grpc_turn(&client, 60000));
	grpc_close(&client);
}
END_TEST

START_TEST(who_says_nothing_is_not_waited_for)
{
	struct buf b = BUF_INIT;
	int fd;

	options.handshake_ms = 100;
	begin();
	/* Nothing; half a preface; half a head. */
	fd = grpc_socket(server_address(server));
	send_until_closed(fd, &b, 0);
	close(fd);
	fd = grpc_socket(server_address(server));
	ck_assert_int_eq(send(fd, PREFACE, 10, 0), 10);
	send_until_closed(fd, &b, 0);
	close(fd);
	start_bytes(&b);
	add_frame(&b, 1, NGHTTP2_HEADERS, 0, 1, "\x83");
	fd = grpc_socket(server_address(server));
	ck_assert_int_eq(send(fd, b.data, b.size, 0), b.size);
	send_until_closed(fd, &b, 0);
	close(fd);
	/* What is no HTTP/2. */
	buf_reset(&b);
	ck_assert_int_eq(buf_add_string(&b, "GET / HTTP/1.1\r\n\r\n"), 0);
	fd = grpc_socket(server_address(server));
	send_until_closed(fd, &b, 1);
	close(fd);
	buf_release(&b);
	check_alive();
}
END_TEST

START_TEST(half_a_request_is_not_waited_for)
{
	static uint8_t data[30 << 20];
	struct grpc_call call = { .path = "/t/Echo",
				  .message = bytes_of(data, sizeof(data)),
				  .cut = sizeof(data) / 2,
				  .unfinished = true };

	options.request_ms = 200 * slow();
	open_client();
	ck_assert_int_eq(grpc_do(&client, &call), CALL_UNAVAILABLE);
	ck_assert_uint_eq(runs, 0);
	ck_assert_uint_ge(call.sent, sizeof(data) / 2);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
	check_alive();
	grpc_close(&client);
}
END_TEST

/* Together they are more than there is: one goes on at a time. */
START_TEST(large_requests_wait_for_memory)
{
	enum { COUNT = 3, SIZE = 40 << 20 };
	static uint8_t data[SIZE];
	struct grpc_call calls[COUNT] = { 0 };
	size_t i;

	open_client();
	for (i = 0; i < COUNT; i++) {
		calls[i].path = "/t/Where";
		calls[i].message = bytes_of(data, SIZE);
		grpc_start(&client, &calls[i]);
	}
	for (i = 0; i < COUNT; i++) {
		ck_assert(grpc_wait(&client, &calls[i]));
		ck_assert_int_eq(calls[i].status, CALL_OK);
	}
	grpc_close(&client);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* One call of a client of its own, with a request of so many bytes. */
static void check_request(size_t size)
{
	static uint8_t data[20 << 20];
	struct grpc_call call = { .path = "/t/Where",
				  .message = bytes_of(data, size) };
	struct grpc_client other;

	grpc_open(&other, server_address(server));
	ck_assert_int_eq(grpc_do(&other, &call), CALL_OK);
	grpc_close(&other);
}

/* A request that has much of the memory and then comes no further, or next to
 * nothing of it, ends when another one waits that is as large, and not before;
 * that goes on. */
START_TEST(a_slow_request_holds_up_nobody)
{
	enum { SIZE = 40 << 20 };
	static uint8_t data[SIZE];
	struct grpc_call slow_one = { .path = "/t/Where",
				      .message = bytes_of(data, SIZE),
				      .cut = 2 << 20,
				      .unfinished = true };

	options.piece_ms = 100 * slow();
	open_client();
	grpc_start(&client, &slow_one);
	while (slow_one.sent < SIZE - (2 << 20))
		ck_assert(grpc_turn(&client, 1000) || slow_one.sent > 0);
	while (grpc_turn(&client, 300))
		;
	ck_assert(!slow_one.closed);
	ck_assert_uint_gt(memory_used(memory, MEMORY_WIRE), MEMORY_LIMIT / 2);
	check_request(3 << 20);
	while (grpc_turn(&client, 200 * (int)slow()))
		;
	ck_assert(!slow_one.closed);
	check_request(20 << 20);
	ck_assert(grpc_wait(&client, &slow_one));
	ck_assert_int_eq(slow_one.status, CALL_RESOURCE_EXHAUSTED);
	grpc_close(&client);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* What is announced and does not come takes a piece of memory, no more. */
START_TEST(what_is_announced_costs_nothing)
{
	enum { COUNT = 20, SIZE = 60 << 20 };
	static uint8_t data[SIZE];
	struct grpc_call calls[COUNT] = { 0 };
	size_t i;

	open_client();
	for (i = 0; i < COUNT; i++) {
		calls[i].path = "/t/Where";
		calls[i].message = bytes_of(data, SIZE);
		calls[i].cut = SIZE - 1000;
		calls[i].unfinished = true;
		grpc_start(&client, &calls[i]);
	}
	while (grpc_turn(&client, 300))
		;
	ck_assert_uint_le(memory_used(memory, MEMORY_WIRE), COUNT << 20);
	check_alive();
	for (i = 0; i < COUNT; i++)
		grpc_cancel(&client, &calls[i]);
	while (grpc_turn(&client, 100))
		;
	grpc_close(&client);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* Without memory a long request waits, a short one does not. */
START_TEST(requests_are_counted)
{
	static uint8_t data[1 << 20];
	struct grpc_call call = { .path = "/t/Where",
				  .message = bytes_of(data, sizeof(data)) };

	options.request_ms = 300 * slow();
	memory_hold(memory, MEMORY_DRAFTS, MEMORY_LIMIT);
	open_client();
	check_alive();
	ck_assert_int_eq(grpc_do(&client, &call), CALL_RESOURCE_EXHAUSTED);
	ck_assert_uint_le(call.sent, 65535);
	call.closed = false;
	call.sent = 0;
	grpc_start(&client, &call);
	while (call.sent < 60000)
		(void)grpc_turn(&client, 10);
	memory_give(memory, MEMORY_DRAFTS, MEMORY_LIMIT);
	ck_assert(grpc_wait(&client, &call));
	ck_assert_int_eq(call.status, CALL_OK);
	grpc_close(&client);
}
END_TEST

/* What handlers keep is counted, and who is short of it waits, without a thread
 * and without what it had; one at a time goes beyond the limit. */
START_TEST(handlers_wait_for_memory)
{
	enum { COUNT = 6 };
	static const char *const paths[] = { "/t/Keep", "/t/KeepAnew" };
	struct grpc_call calls[COUNT] = { 0 };
	uint8_t message[COUNT][8] = { 0 };
	size_t i;

	options.workers = COUNT;
	gate = false;
	shorts = 0;
	open_client();
	for (i = 0; i < COUNT; i++) {
		calls[i].path = paths[i % 2];
		calls[i].message = stream_of(message[i], 12, 0);
		message[i][4] = (uint8_t)(i / 2);
		grpc_start(&client, &calls[i]);
		while (keepers < 1)
			(void)grpc_turn(&client, 1);
	}
	while (keepers < 2 || shorts < COUNT - 2)
		(void)grpc_turn(&client, 10);
	check_alive();
	/* One within the share, one beyond it. */
	ck_assert_uint_eq(keepers, 2);
	ck_assert_uint_ge(memory_used(memory, MEMORY_WIRE), 24 << 20);
	ck_assert_uint_le(memory_used(memory, MEMORY_WIRE), 25 << 20);
	gate = true;
	for (i = 0; i < COUNT; i++) {
		ck_assert(grpc_wait(&client, &calls[i]));
		ck_assert_int_eq(calls[i].status, CALL_OK);
	}
	grpc_close(&client);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* Who is alone gets what it asks for at once, however much of the memory that
 * is: as who reads one large value. */
START_TEST(who_is_alone_waits_for_nobody)
{
	struct grpc_call call = { .path = "/t/KeepStream" };
	uint8_t message[8];
	unsigned int share;

	options.request_ms = 2000 * slow();
	open_client();
	for (share = 1; share <= 16; share++) {
		call.message = stream_of(message, 1, MEMORY_LIMIT / 16 * share);
		ck_assert_int_eq(grpc_do(&client, &call), CALL_OK);
		grpc_release(&call);
		call = (struct grpc_call){ .path = "/t/KeepStream" };
		UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
	}
	grpc_close(&client);
}
END_TEST

/* Who gets none for long is told so; and one that is given up while it waits
 * leaves nothing. */
START_TEST(handlers_do_not_wait_for_ever)
{
	enum { COUNT = 4 };
	struct grpc_call calls[COUNT] = { 0 };
	uint8_t message[8] = { 0 };
	size_t i;

	options.workers = COUNT;
	options.request_ms = 300 * slow();
	gate = false;
	shorts = 0;
	open_client();
	for (i = 0; i < COUNT; i++) {
		calls[i].path = i == 2 ? "/t/KeepAnew" : "/t/Keep";
		calls[i].message = stream_of(message, 12, 0);
		grpc_start(&client, &calls[i]);
		while (i < 2 ? keepers <= i : shorts <= i - 2)
			(void)grpc_turn(&client, 1);
	}
	grpc_cancel(&client, &calls[3]);
	ck_assert(grpc_wait(&client, &calls[2]));
	ck_assert_int_eq(calls[2].status, CALL_RESOURCE_EXHAUSTED);
	gate = true;
	for (i = 0; i < 2; i++) {
		ck_assert(grpc_wait(&client, &calls[i]));
		ck_assert_int_eq(calls[i].status, CALL_OK);
	}
	grpc_close(&client);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* However much one client asks for, there is something left for others. */
START_TEST(one_client_leaves_something)
{
	enum { COUNT = 6 };
	struct grpc_call calls[COUNT] = { 0 };
	uint8_t message[8] = { 0 }, less[8] = { 0 };
	static uint8_t data[3 << 20];
	struct grpc_call keeps = { .path = "/t/Keep" };
	struct grpc_call call = { .path = "/t/Where",
				  .message = bytes_of(data, sizeof(data)) };
	struct grpc_client other;
	size_t i;

	options.workers = COUNT + 1;
	gate = false;
	shorts = 0;
	open_client();
	for (i = 0; i < COUNT; i++) {
		calls[i].path = "/t/Keep";
		calls[i].message = stream_of(message, 12, 0);
		grpc_start(&client, &calls[i]);
		while (keepers < 1)
			(void)grpc_turn(&client, 1);
	}
	while (keepers < 2 || shorts < COUNT - 2)
		(void)grpc_turn(&client, 1);
	grpc_open(&other, server_address(server));
	ck_assert_int_eq(grpc_do(&other, &call), CALL_OK);
	keeps.message = stream_of(less, 4, 0);
	grpc_start(&other, &keeps);
	while (keepers < 3)
		(void)grpc_turn(&other, 1);
	gate = true;
	ck_assert(grpc_wait(&other, &keeps));
	for (i = 0; i < COUNT; i++) {
		ck_assert(grpc_wait(&client, &calls[i]));
		ck_assert_int_eq(calls[i].status, CALL_OK);
	}
	grpc_close(&other);
	grpc_close(&client);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* An answer that went beyond the limit, and is not read, ends when another one
 * waits for that, and not before. */
START_TEST(a_slow_reader_holds_up_nobody)
{
	uint8_t message[8];
	struct grpc_call stalled = { .path = "/t/KeepStream" };

	options.piece_ms = 100 * slow();
	open_client();
	client.stalled = true;
	stalled.message = stream_of(message, 1, 40 << 20);
	grpc_start(&client, &stalled);
	while (stalled.body.size < 60000)
		(void)grpc_turn(&client, 10);
	while (grpc_turn(&client, 300 * (int)slow()))
		;
	ck_assert(!stalled.closed);
	ck_assert_uint_ge(memory_used(memory, MEMORY_WIRE), 40 << 20);
	check_request(3 << 20);
	while (grpc_turn(&client, 200 * (int)slow()))
		;
	ck_assert(!stalled.closed);
	check_request(20 << 20);
	ck_assert(grpc_wait(&client, &stalled));
	ck_assert_int_ne(stalled.status, CALL_OK);
	grpc_release(&stalled);
	grpc_close(&client);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_stalled_reader_costs_its_own_queue,
		a_stalled_reader_of_large_messages,
		streams_and_connections_are_counted,
		a_stream_too_many_is_refused,
		resets_are_counted,
		floods_are_ended,
		floods_of_streams_are_ended,
		pings_are_answered,
		who_says_nothing_is_not_waited_for,
		half_a_request_is_not_waited_for,
		large_requests_wait_for_memory,
		a_slow_request_holds_up_nobody,
		what_is_announced_costs_nothing,
		requests_are_counted,
		handlers_wait_for_memory,
		who_is_alone_waits_for_nobody,
		handlers_do_not_wait_for_ever,
		one_client_leaves_something,
		a_slow_reader_holds_up_nobody,
	};

	return run_suite("serve limits", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
