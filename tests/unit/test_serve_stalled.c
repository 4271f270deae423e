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

	options.stop_ms = 300;
	begin();
	open_stalled(&client, 1000);
	call.message = stream_of(message, 10, 5000);
	grpc_start(&client, &call);
	while (call.body.size < 1000)
		(void)grpc_turn(&client, 10);
	pthread_create(&thread, NULL, stop, server);
	ck_assert(grpc_wait(&client, &call));
	ck_assert_int_eq(call.status, -1);
	ck_assert_uint_eq(call.error, NGHTTP2_INTERNAL_ERROR);
	grpc_close(&client);
	pthread_join(thread, NULL);
	grpc_release(&call);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_call_that_ran_is_not_refused,
		an_answer_that_is_cut_is_not_refused,
	};

	return run_suite("serve stalled", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
