#include <malloc.h>

#include "tests/unit/serve_fixture.h"

/* Peers that do not take their answers: how their calls end, what they cost
 * together, and that others go on. */

/* A client whose windows are of so many bytes, and stay as they are. */
static void open_stalled(struct grpc_client *c, uint32_t window)
{
	nghttp2_settings_entry entry = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
					 window };

	grpc_open(c, server_address(server));
	c->stalled = true;
	ck_assert_int_eq(nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE,
						 &entry, 1),
			 0);
}

static void *stop(void *context)
{
	server_stop(context);
	return NULL;
}

/* Of a call that ran a client must never hear that nothing was done: it would
 * do it again. Its status needs no window. */
START_TEST(a_call_that_ran_is_not_refused)
{
	struct grpc_client client;
	struct grpc_call call = { .path = "/t/Echo" };
	uint8_t message[8] = { 0 };
	pthread_t thread;

	options.stop_ms = 300;
	begin();
	open_stalled(&client, 0);
	call.message = bytes_of(message, sizeof(message));
	grpc_start(&client, &call);
	while (runs == 0)
		(void)grpc_turn(&client, 10);
	pthread_create(&thread, NULL, stop, server);
	ck_assert(grpc_wait(&client, &call));
	ck_assert_int_eq(call.status, CALL_UNAVAILABLE);
	ck_assert_str_eq(call.text, "The server stops.");
	ck_assert_uint_eq(call.error, NGHTTP2_NO_ERROR);
	ck_assert_uint_eq(call.body.size, 0);
	grpc_close(&client);
	pthread_join(thread, NULL);
	grpc_release(&call);
}
END_TEST

/* Within a message there is no place for a status. That is so for the last one,
 * too, behind which the answer has ended well; a client takes CANCEL for its
 * own wish, and the answer for whole. */
static void check_cut(uint32_t count)
{
	struct grpc_client client;
	struct grpc_call call = { .path = "/t/Stream" };
	uint8_t message[8];
	pthread_t thread;

	options.stop_ms = 1000 * slow();
	begin();
	open_stalled(&client, 1000);
	call.message = stream_of(message, count, 5000);
	grpc_start(&client, &call);
	while (call.body.size < 1000)
		(void)grpc_turn(&client, 10);
	pthread_create(&thread, NULL, stop, server);
	/* Nobody else comes in meanwhile, to wait in vain. */
	for (;;) {
		struct grpc_client late;

		if (!grpc_try(&late, server_address(server)))
			break;
		grpc_close(&late);
		ck_assert(!call.closed);
		(void)grpc_turn(&client, 1);
	}
	ck_assert(grpc_wait(&client, &call));
	ck_assert_int_eq(call.status, -1);
	ck_assert_uint_eq(call.error, NGHTTP2_INTERNAL_ERROR);
	grpc_close(&client);
	pthread_join(thread, NULL);
	grpc_release(&call);
}

START_TEST(an_answer_that_is_cut_is_not_refused)
{
	check_cut(10);
}
END_TEST

START_TEST(an_answer_whose_last_message_is_cut_is_not_whole)
{
	check_cut(1);
}
END_TEST

/* Nor is one of a message that others waited for the memory of. */
START_TEST(an_answer_that_is_cut_for_its_memory_is_not_whole)
{
	struct grpc_client clients[2];
	struct grpc_call calls[2];
	uint8_t message[8];
	size_t i;

	options.piece_ms = 200 * slow();
	begin();
	memset(calls, 0, sizeof(calls));
	for (i = 0; i < 2; i++) {
		open_stalled(&clients[i], 1000);
		calls[i].path = "/t/KeepStream";
		calls[i].message = stream_of(message, 1, MEMORY_LIMIT);
		grpc_start(&clients[i], &calls[i]);
		do
			(void)grpc_turn(&clients[i], 10);
		while (i == 0 && calls[i].body.size < 1000);
	}
	ck_assert(grpc_wait(&clients[0], &calls[0]));
	ck_assert_int_eq(calls[0].status, -1);
	ck_assert_uint_eq(calls[0].error, NGHTTP2_INTERNAL_ERROR);
	for (i = 0; i < 2; i++) {
		grpc_close(&clients[i]);
		grpc_release(&calls[i]);
	}
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* A reader that is as slow as it may be when the server stops: its connection
 * is not closed without a word. */
START_TEST(a_slow_answer_is_not_cut_without_a_word)
{
	struct grpc_client client;
	struct grpc_call call = { .path = "/t/Stream" };
	uint8_t message[8];
	pthread_t thread;

	options.stop_ms = 100;
	begin();
	open_stalled(&client, 1000);
	call.message = stream_of(message, 1, 60000);
	grpc_start(&client, &call);
	while (call.body.size < 1000)
		(void)grpc_turn(&client, 10);
	pthread_create(&thread, NULL, stop, server);
	while (!call.closed && !client.gone) {
		(void)nghttp2_submit_window_update(
			client.session, NGHTTP2_FLAG_NONE, call.stream, 10);
		(void)grpc_turn(&client, 0);
		usleep(20000);
	}
	ck_assert(call.closed);
	ck_assert_int_eq(call.status, -1);
	ck_assert_uint_eq(call.error, NGHTTP2_INTERNAL_ERROR);
	grpc_close(&client);
	pthread_join(thread, NULL);
	grpc_release(&call);
}
END_TEST

/* As a scan: each message is counted before it is sent. */
START_TEST(all_stalled_readers_are_bounded_together)
{
	enum { CLIENTS = 8, CALLS = 100, SIZE = 100000 };
	static struct grpc_client clients[CLIENTS];
	static struct grpc_call calls[CLIENTS][CALLS];
	struct grpc_client other;
	struct grpc_call one = { .path = "/t/KeepStream" };
	uint8_t message[8], few[8];
	size_t i, k;

	options.rest_ms = 100;
	options.piece_ms = 200 * slow();
	begin();
	memset(calls, 0, sizeof(calls));
	for (i = 0; i < CLIENTS; i++) {
		open_stalled(&clients[i], 1000);
		for (k = 0; k < CALLS; k++) {
			calls[i][k].path = "/t/KeepStream";
			calls[i][k].message = stream_of(message, 1, SIZE);
			grpc_start(&clients[i], &calls[i][k]);
		}
		for (k = 0; k < 20; k++)
			(void)grpc_turn(&clients[i], 10);
	}
	/* Half of the limit, one call's, and what two workers have in hand. */
	ck_assert_uint_ge(memory_used(memory, MEMORY_WIRE), MEMORY_LIMIT / 4);
	ck_assert_uint_le(memory_used(memory, MEMORY_WIRE),
			  MEMORY_LIMIT / 2 + (4 << 20));
	grpc_open(&other, server_address(server));
	one.message = stream_of(few, 1, 1 << 20);
	ck_assert_int_eq(grpc_do(&other, &one), CALL_OK);
	grpc_release(&one);
	grpc_close(&other);
	for (i = 0; i < CLIENTS; i++) {
		grpc_close(&clients[i]);
		for (k = 0; k < CALLS; k++)
			grpc_release(&calls[i][k]);
	}
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* Fills what calls may have together by clients that read nothing, which are
 * not ended for it. */
enum { FULL_CLIENTS = 8, FULL_CALLS = 100 };
static struct grpc_client full[FULL_CLIENTS];
static struct grpc_call full_calls[FULL_CLIENTS][FULL_CALLS];

static void start_full(const char *path)
{
	uint8_t message[8];
	size_t i, k;

	options.piece_ms = 3600000;
	begin();
	memset(full_calls, 0, sizeof(full_calls));
	for (i = 0; i < FULL_CLIENTS; i++) {
		open_stalled(&full[i], 1000);
		for (k = 0; k < FULL_CALLS; k++) {
			full_calls[i][k].path = path;
			full_calls[i][k].message =
				stream_of(message, 1, 100000);
			grpc_start(&full[i], &full_calls[i][k]);
		}
		for (k = 0; k < 20; k++)
			(void)grpc_turn(&full[i], 10);
	}
}

static void fill(void)
{
	start_full("/t/KeepStream");
	ck_assert_uint_ge(memory_used(memory, MEMORY_WIRE),
			  MEMORY_LIMIT / 2 - (1 << 20));
}

static void empty(void)
{
	size_t i, k;

	for (i = 0; i < FULL_CLIENTS; i++) {
		grpc_close(&full[i]);
		for (k = 0; k < FULL_CALLS; k++)
			grpc_release(&full_calls[i][k]);
	}
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}

/* A message of an answer is nobody's to refuse: calls wait before they run. */
START_TEST(first_messages_are_bounded)
{
	enum { CLIENTS = 4, CALLS = 100, SIZE = 1 << 20 };
	static struct grpc_client clients[CLIENTS];
	static struct grpc_call calls[CLIENTS][CALLS];
	uint64_t most = MEMORY_LIMIT / 4 * 3 +
			(options.workers + options.loops) * (SIZE + 4096);
	uint8_t message[8];
	size_t i, k, done = 0;

	options.piece_ms = options.request_ms = 3600000;
	begin();
	memset(calls, 0, sizeof(calls));
	for (i = 0; i < CLIENTS; i++) {
		open_stalled(&clients[i], 1000);
		for (k = 0; k < CALLS; k++) {
			calls[i][k].path = "/t/Stream";
			calls[i][k].message = stream_of(message, 1, SIZE);
			grpc_start(&clients[i], &calls[i][k]);
		}
		for (k = 0; k < 20; k++) {
			(void)grpc_turn(&clients[i], 10);
			ck_assert_uint_le(memory_used(memory, MEMORY_WIRE),
					  most);
		}
	}
	ck_assert_uint_ge(memory_used(memory, MEMORY_WIRE),
			  MEMORY_LIMIT / 2 - (1 << 20));
	/* Those that were let in run when there is room. */
	for (i = 1; i < CLIENTS; i++)
		grpc_close(&clients[i]);
	for (k = 0; k < CALLS; k++)
		nghttp2_session_set_local_window_size(
			clients[0].session, NGHTTP2_FLAG_NONE,
			calls[0][k].stream, 1 << 30);
	nghttp2_session_set_local_window_size(clients[0].session,
					      NGHTTP2_FLAG_NONE, 0, 1 << 30);
	for (k = 0; k < CALLS; k++) {
		ck_assert(grpc_wait(&clients[0], &calls[0][k]));
		ck_assert(calls[0][k].status == CALL_OK ||
			  calls[0][k].status == CALL_UNAVAILABLE);
		done += calls[0][k].status == CALL_OK;
	}
	ck_assert_uint_gt(done, MEMORY_LIMIT / SIZE / 2);
	grpc_close(&clients[0]);
	for (i = 0; i < CLIENTS; i++)
		for (k = 0; k < CALLS; k++)
			grpc_release(&calls[i][k]);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* Some rows of a client that has little itself. */
START_TEST(a_small_read_waits_for_no_stalled_one)
{
	struct grpc_client client;
	struct grpc_call call = { .path = "/t/KeepStream" };
	uint8_t message[8];

	options.request_ms = 2000 * slow();
	fill();
	grpc_open(&client, server_address(server));
	call.message = stream_of(message, 1, 20000);
	ck_assert_int_eq(grpc_do(&client, &call), CALL_OK);
	grpc_release(&call);
	grpc_close(&client);
	empty();
}
END_TEST

/* All have begun when each wants more. */
START_TEST(what_grows_is_bounded)
{
	options.request_ms = 3600000;
	start_full("/t/Grow");
	UNTIL(starts == FULL_CLIENTS * FULL_CALLS);
	gate = true;
	UNTIL(memory_used(memory, MEMORY_WIRE) >= MEMORY_LIMIT / 4);
	usleep(300000 * slow());
	ck_assert_uint_le(memory_used(memory, MEMORY_WIRE),
			  MEMORY_LIMIT / 2 + (4 << 20));
	empty();
}
END_TEST

/* What comes unasked, heads and the first bytes of requests, is bounded as
 * well: who is beyond that is told. One client's is, before there is nothing
 * left for others. */
static void check_heads(size_t head, size_t body)
{
	enum { CLIENTS = 60, CALLS = 100 };
	static struct grpc_client clients[CLIENTS];
	static struct grpc_call calls[CLIENTS][CALLS];
	static char value[15000];
	static uint8_t data[60000];
	struct grpc_client other;
	struct grpc_call one = { .path = "/t/Echo" };
	size_t i, k, refused = 0;
	unsigned int tries = 0;

	options.piece_ms = options.request_ms = 3600000;
	begin();
	memset(calls, 0, sizeof(calls));
	memset(value, 'v', head);
	value[head] = '\0';
	for (i = 0; i < CLIENTS; i++) {
		grpc_open(&clients[i], server_address(server));
		for (k = 0; k < CALLS; k++) {
			calls[i][k].path = "/t/Echo";
			calls[i][k].name = "x-much";
			calls[i][k].value = value;
			calls[i][k].message = bytes_of(data, body);
			calls[i][k].cut = 1;
			calls[i][k].unfinished = true;
			grpc_start(&clients[i], &calls[i][k]);
		}
		while (grpc_turn(&clients[i], 20))
			;
		/* As what is refused is held until it was told. */
		ck_assert_uint_le(memory_used(memory, MEMORY_WIRE),
				  MEMORY_LIMIT / 4 * 3 + (1 << 20));
		if (i > 0)
			continue;
		grpc_open(&other, server_address(server));
		ck_assert_int_eq(grpc_do(&other, &one), CALL_OK);
		grpc_release(&one);
		grpc_close(&other);
	}
	while (refused <= CLIENTS * CALLS / 4) {
		ck_assert_uint_lt(tries++, 1000 * slow());
		for (i = refused = 0; i < CLIENTS; i++) {
			(void)grpc_turn(&clients[i], 1);
			for (k = 0; k < CALLS; k++)
				refused += calls[i][k].closed;
		}
	}
	ck_assert_uint_ge(memory_used(memory, MEMORY_WIRE), MEMORY_LIMIT / 2);
	ck_assert_uint_le(memory_used(memory, MEMORY_WIRE),
			  MEMORY_LIMIT / 4 * 3 + (1 << 20));
	for (i = 0; i < CLIENTS; i++) {
		for (k = 0; k < CALLS; k++)
			ck_assert(!calls[i][k].closed ||
				  calls[i][k].status == CALL_UNAVAILABLE);
		grpc_close(&clients[i]);
	}
	ck_assert_uint_eq(runs, 1);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
	for (i = 0; i < CLIENTS; i++)
		for (k = 0; k < CALLS; k++)
			grpc_release(&calls[i][k]);
}

START_TEST(metadata_is_bounded)
{
	check_heads(14000, 1);
}
END_TEST

START_TEST(what_comes_unasked_is_bounded)
{
	check_heads(10, 60000);
}
END_TEST

/* No more is allocated for a request than is counted. */
START_TEST(requests_have_what_is_counted)
{
	enum { COUNT = 6, SIZE = 20 << 20, SENT = 3231473 + 1000 };
	static uint8_t data[SIZE];
	struct grpc_client clients[COUNT];
	struct grpc_call calls[COUNT];
	struct mallinfo2 before, after;
	size_t i;

	options.piece_ms = options.request_ms = 3600000;
	begin();
	before = mallinfo2();
	memset(calls, 0, sizeof(calls));
	for (i = 0; i < COUNT; i++) {
		grpc_open(&clients[i], server_address(server));
		calls[i].path = "/t/Echo";
		calls[i].message = bytes_of(data, SIZE);
		calls[i].cut = SIZE - SENT;
		calls[i].unfinished = true;
		grpc_start(&clients[i], &calls[i]);
		while (grpc_turn(&clients[i], 300 * (int)slow()))
			;
	}
	after = mallinfo2();
	ck_assert_uint_ge(memory_used(memory, MEMORY_WIRE), COUNT * SENT);
	ck_assert_uint_le(after.uordblks + after.hblkhd,
			  before.uordblks + before.hblkhd +
				  memory_used(memory, MEMORY_WIRE) + (3 << 20));
	for (i = 0; i < COUNT; i++)
		grpc_close(&clients[i]);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_call_that_ran_is_not_refused,
		an_answer_that_is_cut_is_not_refused,
		an_answer_whose_last_message_is_cut_is_not_whole,
		an_answer_that_is_cut_for_its_memory_is_not_whole,
		a_slow_answer_is_not_cut_without_a_word,
		all_stalled_readers_are_bounded_together,
		first_messages_are_bounded,
		a_small_read_waits_for_no_stalled_one,
		what_grows_is_bounded,
		metadata_is_bounded,
		what_comes_unasked_is_bounded,
		requests_have_what_is_counted,
	};

	return run_suite("serve stalled", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
