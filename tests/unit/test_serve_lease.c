#include "store/base/err.h"
#include "tests/unit/serve_fixture.h"

/* A server whose store may be another's by now, and a client. */

static struct grpc_client client;
static atomic_int verdict; /* -EAGAIN: nobody knows */
static atomic_uint asked, waits, waiting;

/* Who waits waits for the verdict. */
static int answerable(void *context, bool wait)
{
	int err;

	(void)context;
	asked++;
	if (!wait)
		return verdict;
	waits++;
	waiting++;
	while ((err = verdict) == -EAGAIN)
		usleep(1000);
	waiting--;
	return err < 0 ? fail(ESTALE, "It is another's.") : 0;
}

static enum call_result change(struct call *c, void *context)
{
	(void)context;
	if (call_message(c).size == 0)
		call_committed(c);
	call_end(c, CALL_OK, NULL);
	return CALL_DONE;
}

static const struct route leased[] = { { "/t/Echo", echo, NULL, NULL, 1000 },
				       { "/t/EchoLater", echo, NULL, NULL, 0 },
				       { "/t/Where", where, NULL, NULL, 10 },
				       { "/t/Change", change, NULL, NULL,
					 1000 },
				       { NULL, NULL, NULL, NULL, 0 } };

static void open_leased(int is)
{
	verdict = is;
	asked = waits = 0;
	options.answerable = answerable;
	ck_assert_int_eq(server_new(&options, leased, NULL, &server), 0);
	ck_assert_int_eq(server_start(server), 0);
	grpc_open(&client, server_address(server));
}

static void check_end(const char *path, const char *message, int status)
{
	struct grpc_call call = { .path = path,
				  .message = bytes_string(message) };

	ck_assert_int_eq(grpc_do(&client, &call), status);
	grpc_release(&call);
}

START_TEST(what_may_not_be_told_is_not)
{
	open_leased(0);
	check_end("/t/Echo", "", CALL_OK);
	check_end("/t/EchoLater", "", CALL_OK);
	verdict = -ESTALE;
	asked = waits = 0;
	check_end("/t/Echo", "", CALL_UNAVAILABLE);
	/* Where it would be run, and for its message: not for its end. */
	ck_assert_uint_eq(asked, 2);
	ck_assert_uint_eq(waits, 1);
	check_end("/t/EchoLater", "", CALL_UNAVAILABLE);
	ck_assert_uint_eq(waits, 2);
	grpc_close(&client);
}
END_TEST

START_TEST(what_was_committed_is_told)
{
	open_leased(-ESTALE);
	check_end("/t/Change", "", CALL_OK);
	check_end("/t/Change", "not", CALL_UNAVAILABLE);
	grpc_close(&client);
}
END_TEST

/* It tells nothing of the store, and others' frames wait for it. */
START_TEST(refusals_are_told)
{
	open_leased(-EAGAIN);
	check_end("/t/Nothing", "", CALL_UNIMPLEMENTED);
	ck_assert_uint_eq(asked, 0);
	grpc_close(&client);
}
END_TEST

/* The thread of the connections does not. */
START_TEST(who_waits_keeps_nobody_waiting)
{
	struct grpc_call call = { .path = "/t/Where" };

	open_leased(0);
	ck_assert_int_eq(grpc_do(&client, &call), CALL_OK);
	ck_assert_ptr_nonnull(strstr(call.text, "inline"));
	grpc_release(&call);
	verdict = -EAGAIN;
	memset(&call, 0, sizeof(call));
	call.path = "/t/Where";
	grpc_start(&client, &call);
	UNTIL((grpc_turn(&client, 1), waiting == 1));
	check_end("/t/Nothing", "", CALL_UNIMPLEMENTED);
	verdict = 0;
	ck_assert(grpc_wait(&client, &call));
	ck_assert_ptr_nonnull(strstr(call.text, "later"));
	grpc_release(&call);
	grpc_close(&client);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		what_may_not_be_told_is_not,
		what_was_committed_is_told,
		refusals_are_told,
		who_waits_keeps_nobody_waiting,
	};

	return run_suite("serve lease", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
