#include <sys/socket.h>

#include "tests/unit/serve_fixture.h"
#include "tools/serve/transport.h"

/* Peers whose windows are wide open and whose sockets nobody reads: not even
 * that their calls have ended can they be told. */

enum { DEAF_MAX = 10, LARGE = MEMORY_LIMIT };

static struct grpc_client deaf[DEAF_MAX];
static struct grpc_call unread[DEAF_MAX];
static uint8_t asks[DEAF_MAX][8];

/* A client that takes all by its windows. */
static void open_wide(struct grpc_client *c)
{
	nghttp2_settings_entry window = { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
					  INT32_MAX };

	grpc_open(c, server_address(server));
	ck_assert_int_eq(nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE,
						 &window, 1),
			 0);
	ck_assert_int_eq(nghttp2_session_set_local_window_size(
				 c->session, NGHTTP2_FLAG_NONE, 0, INT32_MAX),
			 0);
}

/* Asks for an answer of so many messages of which nothing is read, until the
 * server has made the first. */
static void ask_deaf(size_t i, const char *path, uint32_t count, uint32_t size)
{
	unread[i] = (struct grpc_call){ .path = path };
	unread[i].message = stream_of(asks[i], count, size);
	open_wide(&deaf[i]);
	grpc_start(&deaf[i], &unread[i]);
	(void)grpc_turn(&deaf[i], 0);
}

static void close_deaf(size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		grpc_close(&deaf[i]);
		grpc_release(&unread[i]);
	}
	UNTIL(memory_used(memory, MEMORY_WIRE) == 0);
	ck_assert_uint_eq(starts, releases);
}

/* Another client's answer of one large message, which it has within this time.
 */
static void check_large(const char *path, uint32_t size, uint64_t within_ms)
{
	struct grpc_call call = { .path = path };
	struct grpc_client c;
	uint8_t message[8];
	uint64_t began = transport_ms();

	grpc_open(&c, server_address(server));
	call.message = stream_of(message, 1, size);
	ck_assert_int_eq(grpc_do(&c, &call), CALL_OK);
	ck_assert_uint_eq(call.messages, 1);
	ck_assert_uint_le(transport_ms() - began, within_ms * slow());
	grpc_release(&call);
	grpc_close(&c);
}

/* Those that nobody needs to be ended for, and those that need the memory. Each
 * deaf one has a second, and some time goes by with the memory itself. */
static void check_others(size_t count)
{
	check_large("/t/KeepStream", LARGE / 16, 700);
	check_large("/t/KeepStream", LARGE, 1500 * count + 1500);
	check_large("/t/Scan", LARGE / 3, 1500 * count + 1500);
	check_large("/t/Stream", LARGE, 1500);
}

/* Who comes to the memory when nobody waits for it keeps it, until somebody
 * does. */
static void end_late(size_t count)
{
	size_t turn;
	int i;

	for (turn = 0; starts != releases; turn++) {
		for (i = 0; starts != releases && i < 500; i++)
			usleep(1000);
		ck_assert_uint_lt(turn, 2 * count + 2);
		if (starts != releases)
			check_large("/t/KeepStream", LARGE,
				    1500 * count + 1500);
	}
}

static void check_deaf(const char *path, size_t count)
{
	size_t i;

	options.piece_ms = 3600000;
	begin();
	for (i = 0; i < count; i++)
		ask_deaf(i, path, 2, LARGE);
	UNTIL(memory_used(memory, MEMORY_WIRE) >= LARGE);
	check_others(count);
	end_late(count);
	/* All is given back but what is on its way to them. */
	UNTIL(memory_used(memory, MEMORY_WIRE) <= count * (512 << 10));
	close_deaf(count);
}

START_TEST(a_deaf_reader_holds_up_nobody)
{
	check_deaf("/t/KeepStream", 1);
}
END_TEST

/* One after the other they come to the memory. */
START_TEST(deaf_readers_hold_up_nobody)
{
	check_deaf("/t/KeepStream", DEAF_MAX);
}
END_TEST

/* Its next row is kept, too, while it waits for memory. */
START_TEST(a_deaf_scan_holds_up_nobody)
{
	check_deaf("/t/Scan", 3);
}
END_TEST

/* It reads, but next to nothing. */
START_TEST(a_reader_of_single_bytes_holds_up_nobody)
{
	struct grpc_call call = { .path = "/t/KeepStream" };
	struct grpc_client c;
	uint8_t message[8], byte;

	options.rest_ms = 3600000;
	options.piece_ms = 500 * slow();
	begin();
	ask_deaf(0, "/t/KeepStream", 1, LARGE);
	UNTIL(memory_used(memory, MEMORY_WIRE) >= LARGE);
	grpc_open(&c, server_address(server));
	call.message = stream_of(message, 1, LARGE);
	grpc_start(&c, &call);
	while (!call.closed && !c.gone) {
		(void)recv(deaf[0].fd, &byte, 1, MSG_DONTWAIT);
		(void)grpc_turn(&c, 10);
	}
	ck_assert_int_eq(call.status, CALL_OK);
	grpc_release(&call);
	grpc_close(&c);
	close_deaf(1);
}
END_TEST

/* A request that does not come to its end, of a client that is deaf besides:
 * what has come of it is given back. */
START_TEST(a_deaf_request_holds_up_nobody)
{
	static uint8_t data[LARGE];
	struct grpc_call half = { .path = "/t/Where",
				  .message = bytes_of(data, sizeof(data)),
				  .cut = LARGE / 4,
				  .unfinished = true };

	options.piece_ms = 500 * slow();
	begin();
	open_wide(&deaf[0]);
	grpc_start(&deaf[0], &half);
	while (half.sent < LARGE - LARGE / 4)
		(void)grpc_turn(&deaf[0], 10);
	unread[0] = (struct grpc_call){ .path = "/t/Stream" };
	unread[0].message = stream_of(asks[0], 1000, 60000);
	grpc_start(&deaf[0], &unread[0]);
	(void)grpc_turn(&deaf[0], 0);
	UNTIL(starts > 0);
	check_large("/t/KeepStream", LARGE, 5000);
	close_deaf(1);
	grpc_release(&half);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_deaf_reader_holds_up_nobody,
		deaf_readers_hold_up_nobody,
		a_deaf_scan_holds_up_nobody,
		a_reader_of_single_bytes_holds_up_nobody,
		a_deaf_request_holds_up_nobody,
	};

	return run_suite("serve deaf", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
