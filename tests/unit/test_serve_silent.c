#include <sys/socket.h>

#include "tests/unit/serve_fixture.h"

/* Peers that say nothing, or nothing for long: who is still there. */

static struct grpc_client client;

static void open_client(void)
{
	begin();
	grpc_open(&client, server_address(server));
}

/* One that takes nothing off its socket. */
START_TEST(a_peer_that_does_not_read_at_all)
{
	uint8_t message[8];
	struct grpc_call call = { .path = "/t/Stream" };

	options.idle_ms = 200 * slow();
	options.ping_ms = 200 * slow();
	open_client();
	call.message = stream_of(message, 1 << 30, 100000);
	grpc_start(&client, &call);
	while (call.messages < 100)
		(void)grpc_turn(&client, 10);
	UNTIL(releases == 1);
	check_alive();
	grpc_release(&call);
	grpc_close(&client);
}
END_TEST

/* A large answer on a socket, of which nothing was read; its windows are open,
 * and nothing more is said by this peer. */
static int ask_silently(void)
{
	static const uint8_t head[] = { 0x83, 0x86, 0x44, 0x09, '/', 't', '/',
					'S',  't',  'r',  'e',  'a', 'm', 0x41,
					0x01, 'x',  0x5f, 0x10, 'a', 'p', 'p',
					'l',  'i',  'c',  'a',  't', 'i', 'o',
					'n',  '/',  'g',  'r',  'p', 'c' };
	/* INITIAL_WINDOW_SIZE, and the connection's. */
	static const uint8_t windows[] = { 0, 4, 0x7f, 0xff, 0xff, 0xff };
	static const uint8_t window[] = { 0x7f, 0, 0, 0 };
	uint8_t message[13] = { 0, 0, 0, 0, 8 };
	struct buf b = BUF_INIT;
	int fd = grpc_socket(server_address(server));

	(void)stream_of(message + 5, 1 << 30, 100000);
	ck_assert_int_eq(buf_add_string(&b, PREFACE), 0);
	add_frame(&b, sizeof(windows), NGHTTP2_SETTINGS, 0, 0, windows);
	add_frame(&b, sizeof(window), NGHTTP2_WINDOW_UPDATE, 0, 0, window);
	add_frame(&b, sizeof(head), NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS,
		  1, head);
	add_frame(&b, sizeof(message), NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1,
		  message);
	ck_assert_int_eq(send(fd, b.data, b.size, 0), b.size);
	buf_release(&b);
	return fd;
}

/* One that reads all the time, but so slowly that a ping is behind megabytes,
 * keeps its connection; when it takes nothing more it loses that. */
static void check_slow_reader(void)
{
	static uint8_t part[100000];
	unsigned int i;
	int fd;

	options.idle_ms = 200 * slow();
	options.ping_ms = 100 * slow();
	begin();
	fd = ask_silently();
	for (i = 0; i < 40; i++) {
		ck_assert_int_gt(recv(fd, part, sizeof(part), 0), 0);
		usleep(40000 * slow());
		ck_assert_uint_eq(releases, 0);
	}
	UNTIL(releases == 1);
	close(fd);
}

START_TEST(a_slow_reader_is_there)
{
	check_slow_reader();
}
END_TEST

START_TEST(a_slow_reader_of_a_path_is_there)
{
	char directory[] = "/tmp/slow-XXXXXX", address[64];

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(address, sizeof(address), "unix:%s/socket", directory);
	options.listen = address;
	check_slow_reader();
	server_free(server);
	server = NULL;
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

/* Of a process that stands still the kernel takes what fits. */
START_TEST(a_peer_that_stands_still_is_not_there)
{
	struct grpc_call call = { .path = "/t/Echo" };
	unsigned int i;

	options.idle_ms = 100 * slow();
	options.ping_ms = 100 * slow();
	open_client();
	ck_assert_int_eq(grpc_do(&client, &call), CALL_OK);
	grpc_release(&call);
	call = (struct grpc_call){ .path = "/t/Work" };
	grpc_start(&client, &call);
	while (starts == 0)
		(void)grpc_turn(&client, 10);
	for (i = 0; i < 10 && releases == 0; i++)
		usleep(1000000 * slow());
	ck_assert_uint_eq(releases, 1);
	/* It hears why, when it goes on. */
	wait_gone(&client);
	ck_assert_int_eq(call.status, CALL_UNAVAILABLE);
	ck_assert_str_eq(call.text, "A ping was not answered.");
	ck_assert_str_eq(client.why, "A ping was not answered.");
	grpc_release(&call);
	grpc_close(&client);
}
END_TEST

/* A peer that is there, and answers, keeps its connection; one that does not
 * loses it. */
START_TEST(silent_peers_are_asked)
{
	struct grpc_call call = { .path = "/t/Echo" };
	unsigned int i;

	options.idle_ms = 100;
	options.ping_ms = 400 * slow();
	open_client();
	for (i = 0; i < 10; i++) {
		(void)grpc_turn(&client, 60);
		usleep(40000);
	}
	ck_assert_int_eq(grpc_do(&client, &call), CALL_OK);
	grpc_release(&call);
	usleep(2000000 * slow());
	wait_gone(&client);
	grpc_close(&client);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_peer_that_does_not_read_at_all,
		a_slow_reader_is_there,
		a_slow_reader_of_a_path_is_there,
		a_peer_that_stands_still_is_not_there,
		silent_peers_are_asked,
	};

	return run_suite("serve silent", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
