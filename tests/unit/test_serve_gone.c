#include <dirent.h>
#include <sys/socket.h>

#include "tests/unit/serve_fixture.h"

/* Peers that are gone, whose calls end with them, and peers that only send no
 * more, which get their answers. */

/* Fails if the condition does not hold within a second. */
#define SOON(condition)                                                       \
	do {                                                                  \
		unsigned int tries_ = 0;                                      \
		while (!(condition)) {                                        \
			ck_assert_msg(tries_++ < 1000 * slow(),               \
				      "not within a second: %s", #condition); \
			usleep(1000);                                         \
		}                                                             \
	} while (0)

static unsigned int descriptors(void)
{
	unsigned int count = 0;
	struct dirent *entry;
	DIR *d = opendir("/proc/self/fd");

	ck_assert_ptr_nonnull(d);
	while ((entry = readdir(d)))
		count++;
	closedir(d);
	return count;
}

/* A client with a call that works until it is cancelled, and perhaps one that
 * has an answer which the client does not read. */
static void open_busy(struct grpc_client *c, struct grpc_call calls[2],
		      uint8_t message[8])
{
	grpc_open(c, server_address(server));
	c->stalled = true;
	calls[0] = (struct grpc_call){ .path = "/t/Work" };
	calls[1] = (struct grpc_call){ .path = "/t/Stream",
				       .message = stream_of(message, 1 << 20,
							    9000) };
	grpc_start(c, &calls[0]);
	grpc_start(c, &calls[1]);
	while (starts < 2 || calls[1].body.size < 60000)
		(void)grpc_turn(c, 10);
}

/* By close, or by a reset, on whichever kind of socket. */
static void check_gone(bool reset)
{
	struct linger at_once = { 1, 0 };
	unsigned int before;
	struct grpc_call calls[2];
	struct grpc_client c;
	uint8_t message[8];

	begin();
	before = descriptors();
	open_busy(&c, calls, message);
	if (reset)
		ck_assert_int_eq(setsockopt(c.fd, SOL_SOCKET, SO_LINGER,
					    &at_once, sizeof(at_once)),
				 0);
	grpc_close(&c);
	SOON(releases == 2);
	SOON(memory_used(memory, MEMORY_WIRE) == 0);
	SOON(descriptors() == before);
	grpc_release(&calls[0]);
	grpc_release(&calls[1]);
}

START_TEST(calls_end_with_their_peer)
{
	check_gone(false);
}
END_TEST

START_TEST(calls_end_by_a_reset)
{
	check_gone(true);
}
END_TEST

static void use_path(void (*check)(void))
{
	char directory[] = "/tmp/gone-XXXXXX", address[64];

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(address, sizeof(address), "unix:%s/socket", directory);
	options.listen = address;
	check();
	server_free(server);
	server = NULL;
	ck_assert_int_eq(rmdir(directory), 0);
}

static void check_closed(void)
{
	check_gone(false);
}

START_TEST(calls_end_with_the_peer_of_a_path)
{
	use_path(check_closed);
}
END_TEST

/* Who has asked may say so, and gets all the same what it asked for; a request
 * that is not whole ends. Then the connection does. */
static void check_half_closed(void)
{
	struct grpc_call calls[3] = {
		{ .path = "/t/Stream" },
		{ .path = "/t/EchoLater", .unfinished = true },
		{ .path = "/t/Park" },
	};
	struct grpc_client c;
	uint8_t message[8];
	unsigned int i;

	begin();
	grpc_open(&c, server_address(server));
	calls[0].message = calls[1].message = stream_of(message, 1, 30000);
	calls[1].cut = 1;
	for (i = 0; i < 3; i++)
		grpc_start(&c, &calls[i]);
	while (!parked)
		(void)grpc_turn(&c, 10);
	ck_assert_int_eq(shutdown(c.fd, SHUT_WR), 0);
	ck_assert(grpc_wait(&c, &calls[0]));
	ck_assert(grpc_wait(&c, &calls[1]));
	ck_assert_int_eq(calls[0].status, CALL_OK);
	ck_assert_uint_eq(calls[0].messages, 1);
	ck_assert_int_eq(calls[1].status, CALL_UNAVAILABLE);
	usleep(100000);
	ck_assert_uint_eq(releases, 1);
	call_wake(parked);
	ck_assert(grpc_wait(&c, &calls[2]));
	ck_assert_int_eq(calls[2].status, CALL_OK);
	wait_gone(&c);
	for (i = 0; i < 3; i++)
		grpc_release(&calls[i]);
	grpc_close(&c);
	SOON(memory_used(memory, MEMORY_WIRE) == 0);
}

START_TEST(who_sends_no_more_gets_its_answers)
{
	check_half_closed();
}
END_TEST

START_TEST(who_sends_no_more_to_a_path)
{
	use_path(check_half_closed);
}
END_TEST

/* And then is gone. */
START_TEST(who_sent_no_more_is_gone)
{
	struct grpc_call calls[2];
	struct grpc_client c;
	uint8_t message[8];

	begin();
	open_busy(&c, calls, message);
	ck_assert_int_eq(shutdown(c.fd, SHUT_WR), 0);
	usleep(100000);
	ck_assert_uint_eq(releases, 0);
	check_alive();
	/* Of what was read nothing is refused when it closes. */
	while (grpc_turn(&c, 50))
		;
	grpc_close(&c);
	SOON(releases == 2);
	grpc_release(&calls[0]);
	grpc_release(&calls[1]);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		calls_end_with_their_peer,
		calls_end_by_a_reset,
		calls_end_with_the_peer_of_a_path,
		who_sends_no_more_gets_its_answers,
		who_sends_no_more_to_a_path,
		who_sent_no_more_is_gone,
	};

	return run_suite("serve gone", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
