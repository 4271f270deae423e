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

/* Within a message there is no place for a status. */
START_TEST(an_answer_that_is_cut_is_not_refused)
{
	struct grpc_client client;
	struct grpc_call call = { .path = "/t/Stream" };
	uint8_t message[8];
	pthread_t thread;

	options.stop_ms = 1000 * slow();
	begin();
	open_stalled(&client, 1000);
	call.message = stream_of(message, 10, 5000);
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

int main(void)
{
	const TTest *tests[] = {
		a_call_that_ran_is_not_refused,
		an_answer_that_is_cut_is_not_refused,
		all_stalled_readers_are_bounded_together,
	};

	return run_suite("serve stalled", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
