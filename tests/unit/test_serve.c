#include "tests/unit/serve_fixture.h"

/* What a client sees of calls, and what handlers see of clients. */

static struct grpc_client client;

static void open_client(void)
{
	begin();
	grpc_open(&client, server_address(server));
}

START_TEST(echoes)
{
	static const char *const paths[] = { "/t/Echo", "/t/EchoLater" };
	static uint8_t data[100000];
	size_t sizes[] = { 0, 1, 1000, 1001, 16384, sizeof(data) }, i, j;

	open_client();
	memset(data, 'd', sizeof(data));
	for (i = 0; i < 2; i++) {
		for (j = 0; j < sizeof(sizes) / sizeof(*sizes); j++) {
			struct grpc_call call = { .path = paths[i] };

			call.message = bytes_of(data, sizes[j]);
			ck_assert_int_eq(grpc_do(&client, &call), CALL_OK);
			ck_assert_int_eq(call.http_status, 200);
			ck_assert_str_eq(call.text, "");
			ck_assert_str_eq(call.encoding, "identity");
			ck_assert_uint_eq(call.messages, 1);
			ck_assert_uint_eq(call.body.size,
					  sizes[j] + GRPC_PREFIX_SIZE);
			ck_assert(bytes_equal(bytes_after(buf_bytes(&call.body),
							  GRPC_PREFIX_SIZE),
					      call.message));
			grpc_release(&call);
		}
	}
	grpc_close(&client);
}
END_TEST

START_TEST(a_status_has_a_text)
{
	struct grpc_call call = { .path = "/t/Refuse",
				  .name = "x-want",
				  .value = "100 % \xc3\xa4" };
	struct grpc_call silent = { .path = "/t/Silent" };

	open_client();
	ck_assert_int_eq(grpc_do(&client, &call), CALL_ABORTED);
	ck_assert_str_eq(call.text, "100 %25 %C3%A4");
	ck_assert_uint_eq(call.messages, 0);
	ck_assert_int_eq(grpc_do(&client, &silent), CALL_INTERNAL);
	grpc_close(&client);
}
END_TEST

/* What is wrong is answered, runs nothing, and leaves the connection. */
START_TEST(requests_that_are_wrong)
{
	static char long_value[17000];
	const struct {
		struct grpc_call call;
		int http_status, status;
	} wrong[] = {
		{ { .path = "/t/Echo", .method = "GET" }, 405, CALL_INTERNAL },
		{ { .path = "/t/Echo", .content_type = "application/json" },
		  415,
		  CALL_INTERNAL },
		{ { .path = "/t/Ech" }, 200, CALL_UNIMPLEMENTED },
		{ { .path = "/t/Echo", .compressed = 1 },
		  200,
		  CALL_UNIMPLEMENTED },
		{ { .path = "/t/Echo", .compressed = 2 }, 200, CALL_INTERNAL },
		{ { .path = "/t/Echo", .cut = 1 }, 200, CALL_INTERNAL },
		{ { .path = "/t/Echo", .cut = 8 }, 200, CALL_INTERNAL },
		{ { .path = "/t/Echo", .timeout = "1x" }, 200, CALL_INTERNAL },
		{ { .path = "/t/Echo",
		    .message = { NULL, CALL_MESSAGE_MAX + 1 },
		    .cut = CALL_MESSAGE_MAX + 1,
		    .unfinished = true },
		  200,
		  CALL_RESOURCE_EXHAUSTED },
		{ { .path = "/t/Echo", .name = "x-long", .value = long_value },
		  200,
		  CALL_RESOURCE_EXHAUSTED },
	};
	struct grpc_call good = { .path = "/t/Echo" };
	size_t i;

	memset(long_value, 'v', sizeof(long_value) - 1);
	open_client();
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct grpc_call call = wrong[i].call;

		if (call.message.size == 0)
			call.message = BYTES_LITERAL("message");
		ck_assert_int_eq(grpc_do(&client, &call), wrong[i].status);
		ck_assert_int_eq(call.http_status, wrong[i].http_status);
		ck_assert_str_ne(call.text, "");
		ck_assert_str_eq(call.encoding, "identity");
		grpc_release(&call);
	}
	ck_assert_uint_eq(runs, 0);
	ck_assert_int_eq(grpc_do(&client, &good), CALL_OK);
	grpc_release(&good);
	grpc_close(&client);
}
END_TEST

START_TEST(an_unknown_method_is_named)
{
	struct grpc_call call = { .path = "/t/CreateBackup" };

	open_client();
	ck_assert_int_eq(grpc_do(&client, &call), CALL_UNIMPLEMENTED);
	ck_assert_str_eq(call.text, "There is no method /t/CreateBackup here.");
	grpc_release(&call);
	grpc_close(&client);
}
END_TEST

/* Two messages where one belongs. */
START_TEST(bytes_behind_the_message)
{
	struct grpc_call call = { .path = "/t/Echo",
				  .message = BYTES_LITERAL("message"),
				  .unfinished = true };
	uint8_t data[5] = { 0 };

	open_client();
	grpc_start(&client, &call);
	while (call.sent < 12)
		(void)grpc_turn(&client, 10);
	ck_assert(!call.closed);
	/* The same stream goes on with a prefix of nothing. */
	call.message = bytes_of(data, sizeof(data));
	call.sent = GRPC_PREFIX_SIZE;
	call.unfinished = false;
	ck_assert_int_eq(
		nghttp2_session_resume_data(client.session, call.stream), 0);
	ck_assert(grpc_wait(&client, &call));
	ck_assert_int_eq(call.status, CALL_INTERNAL);
	ck_assert_uint_eq(runs, 0);
	grpc_close(&client);
}
END_TEST

START_TEST(short_requests_run_inline)
{
	struct grpc_call tiny = { .path = "/t/Where",
				  .message = BYTES_LITERAL("1234") };
	struct grpc_call more = { .path = "/t/Where",
				  .message = BYTES_LITERAL("12345") };
	struct grpc_call most = { .path = "/t/Where",
				  .message = BYTES_LITERAL("12345678901") };

	open_client();
	ck_assert_int_eq(grpc_do(&client, &tiny), CALL_OK);
	ck_assert_str_eq(tiny.text, "/t/Where inline");
	ck_assert_int_eq(grpc_do(&client, &more), CALL_OK);
	ck_assert_str_eq(more.text, "/t/Where later");
	ck_assert_int_eq(grpc_do(&client, &most), CALL_OK);
	ck_assert_str_eq(most.text, "/t/Where later");
	grpc_close(&client);
}
END_TEST

static void check_stream(const char *path, uint32_t count, uint32_t size)
{
	uint8_t message[8];
	struct grpc_call call = { .path = path };
	uint32_t i, left = count;
	size_t at = 0;

	call.message = stream_of(message, count, size);
	ck_assert_int_eq(grpc_do(&client, &call), CALL_OK);
	ck_assert_uint_eq(call.messages, count);
	for (; left > 0; left--) {
		ck_assert_uint_eq(grpc_prefix_size(call.body.data + at), size);
		at += GRPC_PREFIX_SIZE;
		for (i = 0; i < size; i += 997)
			ck_assert_uint_eq(call.body.data[at + i], left & 255);
		at += size;
	}
	ck_assert_uint_eq(at, call.body.size);
	grpc_release(&call);
}

START_TEST(streams_arrive_whole_and_in_order)
{
	open_client();
	check_stream("/t/Stream", 0, 1);
	check_stream("/t/Stream", 20000, 100);
	check_stream("/t/StreamInline", 3000, 1000);
	check_stream("/t/Stream", 100, 100000);
	/* More than the queue may have, and than half of the memory. */
	check_stream("/t/Stream", 2, 40 << 20);
	UNTIL(releases == 5);
	grpc_close(&client);
}
END_TEST

START_TEST(a_deadline_ends_who_works_and_who_is_parked)
{
	struct grpc_call work = { .path = "/t/Work", .timeout = "100m" };
	struct grpc_call park = { .path = "/t/Park", .timeout = "100m" };
	struct grpc_call late = { .path = "/t/Echo", .timeout = "0n" };
	struct grpc_call early = { .path = "/t/Echo", .timeout = "1H" };

	open_client();
	ck_assert_int_eq(grpc_do(&client, &work), CALL_DEADLINE_EXCEEDED);
	UNTIL(releases == 1);
	ck_assert_int_eq(grpc_do(&client, &park), CALL_DEADLINE_EXCEEDED);
	ck_assert_uint_eq(releases, 1);
	call_wake(parked);
	UNTIL(releases == 2);
	runs = 0;
	ck_assert_int_eq(grpc_do(&client, &late), CALL_DEADLINE_EXCEEDED);
	ck_assert_uint_eq(runs, 0);
	ck_assert_int_eq(grpc_do(&client, &early), CALL_OK);
	grpc_release(&early);
	grpc_close(&client);
}
END_TEST

START_TEST(parked_calls_are_woken)
{
	struct grpc_call park = { .path = "/t/Park" };
	struct grpc_call wake = { .path = "/t/Wake" };

	open_client();
	grpc_start(&client, &park);
	while (!parked)
		(void)grpc_turn(&client, 10);
	ck_assert(!park.closed);
	call_wake(parked);
	ck_assert(grpc_wait(&client, &park));
	ck_assert_int_eq(park.status, CALL_OK);
	ck_assert_int_eq(grpc_do(&client, &wake), CALL_OK);
	ck_assert_uint_eq(runs, 4);
	UNTIL(releases == 2);
	grpc_close(&client);
}
END_TEST

START_TEST(a_cancelled_call_ends)
{
	uint8_t message[8];
	struct grpc_call work = { .path = "/t/Work" };
	struct grpc_call stream = { .path = "/t/Stream" };
	struct grpc_call park = { .path = "/t/Park" };

	open_client();
	stream.message = stream_of(message, 1 << 30, 1000);
	grpc_start(&client, &work);
	grpc_start(&client, &stream);
	grpc_start(&client, &park);
	while (starts < 3 || stream.messages < 1000)
		(void)grpc_turn(&client, 10);
	grpc_cancel(&client, &work);
	grpc_cancel(&client, &stream);
	grpc_cancel(&client, &park);
	while (!work.closed || !stream.closed || !park.closed)
		(void)grpc_turn(&client, 10);
	UNTIL(releases == 2);
	call_wake(parked);
	UNTIL(releases == 3);
	grpc_release(&stream);
	grpc_close(&client);
}
END_TEST

START_TEST(a_client_that_goes_away_ends_its_calls)
{
	uint8_t message[8];
	struct grpc_call calls[] = { { .path = "/t/Work" },
				     { .path = "/t/Stream" },
				     { .path = "/t/Stream" } };

	open_client();
	calls[1].message = calls[2].message =
		stream_of(message, 1 << 30, 100000);
	grpc_start(&client, &calls[0]);
	grpc_start(&client, &calls[1]);
	grpc_start(&client, &calls[2]);
	while (starts < 3 || calls[1].messages < 10)
		(void)grpc_turn(&client, 10);
	grpc_close(&client);
	UNTIL(releases == 3);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
	grpc_release(&calls[1]);
	grpc_release(&calls[2]);
}
END_TEST

/* More than may be open at a time: the client waits with the others. */
START_TEST(many_calls_at_once)
{
	enum { COUNT = 1000 };
	static struct grpc_call calls[COUNT];
	size_t i;

	open_client();
	for (i = 0; i < COUNT; i++) {
		calls[i].path = i % 2 ? "/t/Echo" : "/t/EchoLater";
		calls[i].message = BYTES_LITERAL("message");
		grpc_start(&client, &calls[i]);
	}
	for (i = 0; i < COUNT; i++) {
		ck_assert(grpc_wait(&client, &calls[i]));
		ck_assert_int_eq(calls[i].status, CALL_OK);
		ck_assert_uint_eq(calls[i].messages, 1);
		grpc_release(&calls[i]);
	}
	grpc_close(&client);
}
END_TEST

/* Workers that never end do not hold up others, nor pings and cancels. */
START_TEST(long_calls_leave_room_for_short_ones)
{
	enum { COUNT = 20 };
	struct grpc_call work[COUNT] = { 0 };
	struct grpc_call later;
	unsigned int i;

	open_client();
	for (i = 0; i < COUNT; i++) {
		work[i].path = "/t/Work";
		grpc_start(&client, &work[i]);
	}
	while (starts < COUNT)
		(void)grpc_turn(&client, 10);
	for (i = 0; i < 50; i++) {
		later = (struct grpc_call){ .path = "/t/EchoLater" };
		ck_assert_int_eq(grpc_do(&client, &later), CALL_OK);
		grpc_release(&later);
		grpc_ping(&client);
	}
	while (client.pongs < 50)
		ck_assert(grpc_turn(&client, 60000));
	for (i = 0; i < COUNT; i++)
		grpc_cancel(&client, &work[i]);
	(void)grpc_turn(&client, 10);
	UNTIL(releases == COUNT);
	grpc_close(&client);
}
END_TEST

static void *load(void *argument)
{
	static const char *const paths[] = { "/t/Echo", "/t/EchoLater",
					     "/t/Stream", "/t/Wake",
					     "/t/Work" };
	unsigned int i, seed = *(unsigned int *)argument;
	struct grpc_client c;
	uint8_t message[8];

	grpc_open(&c, server_address(server));
	for (i = 0; i < 300; i++) {
		struct grpc_call call = { .path = paths[(i + seed) % 5] };

		call.message = stream_of(message, i, 100 + seed);
		grpc_start(&c, &call);
		if ((i + seed) % 5 == 4) {
			if (i % 2)
				(void)grpc_turn(&c, 1);
			grpc_cancel(&c, &call);
		}
		ck_assert(grpc_wait(&c, &call));
		grpc_release(&call);
	}
	grpc_close(&c);
	return NULL;
}

START_TEST(several_clients_at_once)
{
	enum { COUNT = 4 };
	pthread_t threads[COUNT];
	unsigned int seeds[COUNT], i;

	begin();
	for (i = 0; i < COUNT; i++) {
		seeds[i] = i;
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, load, &seeds[i]), 0);
	}
	for (i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		echoes,
		a_status_has_a_text,
		requests_that_are_wrong,
		an_unknown_method_is_named,
		bytes_behind_the_message,
		short_requests_run_inline,
		streams_arrive_whole_and_in_order,
		a_deadline_ends_who_works_and_who_is_parked,
		parked_calls_are_woken,
		a_cancelled_call_ends,
		a_client_that_goes_away_ends_its_calls,
		many_calls_at_once,
		long_calls_leave_room_for_short_ones,
		several_clients_at_once,
	};

	return run_suite("serve", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
