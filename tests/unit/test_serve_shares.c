#include "tests/unit/serve_fixture.h"
#include "tools/serve/transport.h"

/* What clients that have much, or read little, leave to those that ask for
 * next to nothing. */

enum { CLIENTS = 100, CALLS = 100 };

static struct grpc_client clients[CLIENTS];
static struct grpc_call calls[CLIENTS][CALLS];

/* A client whose windows stay as they are. */
static void open_stalled(struct grpc_client *c)
{
	grpc_open(c, server_address(server));
	c->stalled = true;
}

static void turn_all(unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		(void)grpc_turn(&clients[i], 0);
}

/* One short call of a client of its own: its status, which does not take long.
 */
static void check_short(const char *path, struct bytes message)
{
	struct grpc_client c;
	struct grpc_call call = { .path = path, .message = message };
	uint64_t began = transport_ms();
	int status;

	grpc_open(&c, server_address(server));
	status = grpc_do(&c, &call);
	ck_assert_msg(status == CALL_OK, "%s: %d %s", path, status, call.text);
	ck_assert_uint_lt(transport_ms() - began, 1000 * slow());
	grpc_release(&call);
	grpc_close(&c);
}

static void check_short_calls(void)
{
	uint8_t message[8];

	check_short("/t/Echo", BYTES_NONE);
	check_short("/t/EchoLater", BYTES_NONE);
	check_short("/t/Scan", stream_of(message, 1, 2000));
}

/* Ten thousand scans of which nothing is read, each of which keeps something
 * while it waits for memory, as long as they are not ended for it. */
START_TEST(stalled_scans_hold_up_no_short_call)
{
	uint8_t message[8];
	size_t i, k;

	options.rest_ms = 200;
	options.piece_ms = 3600000;
	begin();
	memset(calls, 0, sizeof(calls));
	for (i = 0; i < CLIENTS; i++) {
		open_stalled(&clients[i]);
		for (k = 0; k < CALLS; k++) {
			calls[i][k].path = "/t/Scan";
			calls[i][k].message = stream_of(message, 10, 70000);
			grpc_start(&clients[i], &calls[i][k]);
		}
		turn_all((unsigned int)i + 1);
		if (i % 10 == 9)
			check_short_calls();
	}
	for (i = 0; i < 20; i++) {
		turn_all(CLIENTS);
		check_short_calls();
		usleep(50000);
	}
	ck_assert_uint_ge(memory_used(memory, MEMORY_WIRE), MEMORY_LIMIT / 4);
	for (i = 0; i < CLIENTS; i++) {
		grpc_close(&clients[i]);
		for (k = 0; k < CALLS; k++)
			grpc_release(&calls[i][k]);
	}
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* An answer of one message, which its method did not know to be large. */
START_TEST(a_large_answer_refuses_nobody)
{
	struct grpc_call call = { .path = "/t/Stream" };
	struct grpc_client c;
	uint8_t message[8];
	unsigned int i;

	options.piece_ms = 3600000;
	begin();
	open_stalled(&c);
	call.message = stream_of(message, 1, MEMORY_LIMIT);
	grpc_start(&c, &call);
	while (call.body.size < 60000)
		(void)grpc_turn(&c, 10);
	for (i = 0; i < 20; i++)
		check_short_calls();
	grpc_release(&call);
	grpc_close(&c);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* Of several readers of large rows one has a row in memory; who reads them all
 * gets them all. */
START_TEST(large_rows_are_there_one_at_a_time)
{
	enum { READERS = 3, ROWS = 2, SIZE = 20 << 20 };
	uint8_t message[8];
	size_t i;

	options.request_ms = 300000;
	begin();
	memset(calls, 0, sizeof(calls));
	for (i = 0; i < READERS; i++) {
		grpc_open(&clients[i], server_address(server));
		calls[i][0].path = "/t/Scan";
		calls[i][0].message = stream_of(message, ROWS, SIZE);
		grpc_start(&clients[i], &calls[i][0]);
		(void)grpc_turn(&clients[i], 0);
	}
	for (i = 0; i < READERS; i++) {
		while (!calls[i][0].closed && !clients[i].gone) {
			turn_all(READERS);
			/* One row, as what is kept and as a message. */
			ck_assert_uint_le(memory_used(memory, MEMORY_WIRE),
					  2 * (uint64_t)SIZE + (4 << 20));
		}
		ck_assert_int_eq(calls[i][0].status, CALL_OK);
		ck_assert_uint_eq(calls[i][0].messages, ROWS);
		grpc_release(&calls[i][0]);
	}
	for (i = 0; i < READERS; i++)
		grpc_close(&clients[i]);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

/* While it does not read the one row there is no other; and that it has that is
 * no want of memory. */
START_TEST(a_slow_reader_of_large_rows_gets_all)
{
	struct grpc_call call = { .path = "/t/Scan" };
	struct grpc_client c;
	uint8_t message[8];

	options.request_ms = 100;
	begin();
	grpc_open(&c, server_address(server));
	call.message = stream_of(message, 2, 20 << 20);
	grpc_start(&c, &call);
	while (call.body.size < 60000)
		(void)grpc_turn(&c, 10);
	usleep(300000);
	ck_assert_uint_le(memory_used(memory, MEMORY_WIRE),
			  (20 << 20) + (1 << 20));
	ck_assert(grpc_wait(&c, &call));
	ck_assert_int_eq(call.status, CALL_OK);
	ck_assert_uint_eq(call.messages, 2);
	grpc_release(&call);
	grpc_close(&c);
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		stalled_scans_hold_up_no_short_call,
		a_large_answer_refuses_nobody,
		large_rows_are_there_one_at_a_time,
		a_slow_reader_of_large_rows_gets_all,
	};

	return run_suite("serve shares", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
