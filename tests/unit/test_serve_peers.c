#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "store/base/err.h"
#include "tests/unit/serve_fixture.h"

/* Where a server listens, who may connect, and how it stops. */

static struct grpc_client client;
static char directory[] = "/tmp/serve-XXXXXX";
static char unix_address[80], unix_path[64];

static void setup_directory(void)
{
	setup();
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(unix_path, sizeof(unix_path), "%s/socket", directory);
	snprintf(unix_address, sizeof(unix_address), "unix:%s", unix_path);
}

static void teardown_directory(void)
{
	teardown();
	unlink(unix_path);
	ck_assert_int_eq(rmdir(directory), 0);
}

/* Connects, and is told why not. */
static void check_refused(const char *why)
{
	struct grpc_call call = { .path = "/t/Echo" };

	grpc_open(&client, server_address(server));
	grpc_start(&client, &call);
	UNTIL(!grpc_turn(&client, 1) && client.gone);
	ck_assert_int_eq(call.status, -1);
	ck_assert_uint_eq(client.goaway, NGHTTP2_INADEQUATE_SECURITY);
	ck_assert_ptr_nonnull(strstr(client.why, why));
	ck_assert_int_eq(client.last, 0);
	ck_assert_uint_eq(runs, 0);
	grpc_close(&client);
}

static void check_taken(void)
{
	struct grpc_call call = { .path = "/t/Echo" };

	grpc_open(&client, server_address(server));
	ck_assert_int_eq(grpc_do(&client, &call), CALL_OK);
	grpc_release(&call);
	grpc_close(&client);
}

static void end(void)
{
	server_free(server);
	server = NULL;
}

START_TEST(another_user_is_refused)
{
	const char *listen[] = { "127.0.0.1:0", "[::1]:0", unix_address };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		/* The client of these tests knows IPv4 alone. */
		if (i == 1)
			continue;
		options.listen = listen[i];
		options.users_all = false;
		options.uid = geteuid() + 1;
		begin();
		check_refused("users=all");
		end();
		options.users_all = true;
		begin();
		check_taken();
		end();
		options.users_all = false;
		options.uid = geteuid();
		runs = 0;
		begin();
		check_taken();
		end();
		runs = 0;
	}
}
END_TEST

/* Another user's process, which only root can make. */
START_TEST(another_users_process_is_refused)
{
	pid_t child;
	int status;

	if (geteuid() != 0)
		return;
	/* Before there are threads: one may hold the allocator's lock, which
	 * nobody would give back in the child. */
	ck_assert_int_eq(server_new(&options, routes, NULL, &server), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct grpc_client c;
		struct grpc_call call = { .path = "/t/Echo" };

		if (setuid(65534) != 0)
			_exit(2);
		grpc_open(&c, server_address(server));
		grpc_start(&c, &call);
		(void)grpc_wait(&c, &call);
		_exit(call.status == -1 && strstr(c.why, "uid 65534 may not")
			      ? 0
			      : 1);
	}
	ck_assert_int_eq(server_start(server), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(runs, 0);
	check_taken();
}
END_TEST

/* Whose socket was closed at once belongs to nobody: to take its uid, 0, for
 * root's would let everybody in. */
START_TEST(who_has_closed_is_nobody)
{
	struct grpc_call call = { .path = "/t/Echo" };

	ck_assert_int_eq(server_new(&options, routes, NULL, &server), 0);
	grpc_open(&client, server_address(server));
	grpc_start(&client, &call);
	(void)grpc_turn(&client, 0);
	ck_assert_uint_gt(call.sent, 0);
	grpc_close(&client);
	ck_assert_int_eq(server_start(server), 0);
	check_taken();
	end();
	ck_assert_uint_eq(runs, 1);
}
END_TEST

/* More at once than are told one after the other: each reads why, though what
 * it sent is read by nobody. */
START_TEST(all_that_are_too_many_are_told)
{
	enum { COUNT = 200 };
	static struct grpc_client c[COUNT];
	struct grpc_call calls[COUNT];
	unsigned int i;

	options.connections_max = 0;
	options.loops = 1;
	ck_assert_int_eq(server_new(&options, routes, NULL, &server), 0);
	memset(calls, 0, sizeof(calls));
	for (i = 0; i < COUNT; i++) {
		calls[i].path = "/t/Echo";
		grpc_open(&c[i], server_address(server));
		grpc_start(&c[i], &calls[i]);
		(void)grpc_turn(&c[i], 0);
	}
	ck_assert_int_eq(server_start(server), 0);
	/* Nobody has read yet when the last was let in. */
	usleep(200000 * slow());
	for (i = 0; i < COUNT; i++) {
		UNTIL(!grpc_turn(&c[i], 1) && c[i].gone);
		ck_assert_str_eq(c[i].why,
				 "there are 0 connections, and no more");
		grpc_close(&c[i]);
	}
}
END_TEST

/* The descriptors of this process that are open. */
static unsigned int open_descriptors(void)
{
	unsigned int count = 0;
	DIR *fds = opendir("/proc/self/fd");

	ck_assert_ptr_nonnull(fds);
	while (readdir(fds))
		count++;
	closedir(fds);
	return count;
}

/* Who comes in crowds, to be refused, takes no more descriptors than that, and
 * who comes after them has an answer. */
START_TEST(crowds_leave_descriptors)
{
	enum { COUNT = 150 };
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct grpc_call call = { .path = "/t/Echo" };
	int crowd[COUNT], i;
	unsigned int before, most = 0, now;

	options.loops = 1;
	options.connections_max = 1;
	options.others_max = 10;
	begin();
	grpc_open(&client, server_address(server));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port =
		htons((uint16_t)atoi(strrchr(server_address(server), ':') + 1));
	before = open_descriptors();
	for (i = 0; i < COUNT; i++) {
		crowd[i] = socket(AF_INET, SOCK_STREAM, 0);
		ck_assert_int_eq(
			connect(crowd[i], (struct sockaddr *)&to, sizeof(to)),
			0);
		now = open_descriptors() - (unsigned int)i - 1;
		most = now > most ? now : most;
		usleep(1000);
	}
	ck_assert_uint_le(most, before + 12);
	ck_assert_int_eq(grpc_do(&client, &call), CALL_OK);
	grpc_release(&call);
	for (i = 0; i < COUNT; i++)
		close(crowd[i]);
	grpc_close(&client);
}
END_TEST

static void check_address(const char *word, int err, const char *address)
{
	options.listen = word;
	ck_assert_int_eq(server_new(&options, routes, NULL, &server), err);
	if (err == 0)
		ck_assert_ptr_eq(strstr(server_address(server), address),
				 server_address(server));
	end();
}

START_TEST(addresses)
{
	static char long_path[200];
	struct stat st;
	int fd;

	check_address(":0", 0, "127.0.0.1:");
	check_address("localhost:0", 0, "127.0.0.1:");
	check_address("127.0.0.2:0", 0, "127.0.0.2:");
	check_address("", -ERR_bad_argument, NULL);
	check_address("8086", -ERR_bad_argument, NULL);
	check_address("127.0.0.1:", -ERR_bad_argument, NULL);
	check_address("127.0.0.1:65536", -ERR_bad_argument, NULL);
	check_address("127.0.0.1:-1", -ERR_bad_argument, NULL);
	check_address("127.0.0.1:1x", -ERR_bad_argument, NULL);
	check_address("nowhere.example:1", -ERR_bad_argument, NULL);
	check_address("unix:", -ERR_bad_argument, NULL);
	memset(long_path, 'p', sizeof(long_path) - 1);
	memcpy(long_path, "unix:/", 6);
	check_address(long_path, -ERR_bad_argument, NULL);
	check_address("unix:/no/such/directory", -ENOENT, NULL);
	check_address("systemd", -ERR_bad_argument, NULL);
	check_address("0.0.0.0:0", -ERR_bad_argument, NULL);
	options.insecure = true;
	check_address("0.0.0.0:0", 0, "0.0.0.0:");
	options.insecure = false;

	check_address(unix_address, 0, unix_address);
	ck_assert_int_eq(stat(unix_path, &st), -1);
	/* A file of somebody's is not touched. */
	fd = creat(unix_path, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	check_address(unix_address, -EADDRINUSE, NULL);
	ck_assert_int_eq(stat(unix_path, &st), 0);
}
END_TEST

START_TEST(a_socket_that_nobody_has_is_replaced)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct server *first;
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(a.sun_path, unix_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	options.listen = unix_address;
	begin();
	ck_assert_int_eq(stat(unix_path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	first = server;
	/* This one is in use. */
	ck_assert_int_eq(server_new(&options, routes, NULL, &server),
			 -EADDRINUSE);
	server = first;
	check_taken();
	/* What took its place meanwhile is not removed by it. */
	ck_assert_int_eq(unlink(unix_path), 0);
	ck_assert_int_eq(mknod(unix_path, S_IFREG | 0600, 0), 0);
	end();
	ck_assert_int_eq(stat(unix_path, &st), 0);
}
END_TEST

/* In a process of its own, as descriptor 3 is Check's, which its assertions
 * use: the exit status. */
static int take_inherited(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	struct grpc_call call = { .path = "/t/Silent" };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char text[16];

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(fd, 10) < 0 || dup2(fd, 3) != 3)
		return 2;
	snprintf(text, sizeof(text), "%d", (int)getpid());
	setenv("LISTEN_PID", text, 1);
	/* Handed over and not used, or not there: both are told. */
	setenv("LISTEN_FDS", "1", 1);
	options.listen = ":0";
	if (server_new(&options, routes, NULL, &server) != -ERR_bad_argument)
		return 5;
	close(100);
	setenv("LISTEN_FDS", "98", 1);
	options.listen = NULL;
	if (server_new(&options, routes, NULL, &server) != -EBADF)
		return 6;
	setenv("LISTEN_FDS", "1", 1);
	if (server_new(&options, routes, NULL, &server) < 0 ||
	    server_start(server) < 0)
		return 3;
	grpc_open(&client, server_address(server));
	if (grpc_do(&client, &call) != CALL_INTERNAL)
		return 4;
	grpc_close(&client);
	server_free(server);
	return 0;
}

START_TEST(a_socket_of_systemd_is_taken)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(take_inherited());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void *stop(void *argument)
{
	(void)argument;
	server_stop(server);
	return NULL;
}

/* A call that ends in time does so; one that does not is told. */
START_TEST(stopping_gives_calls_time)
{
	uint8_t message[8];
	struct grpc_call park = { .path = "/t/Park" };
	struct grpc_call work = { .path = "/t/Work" };
	struct grpc_call stream = { .path = "/t/Stream" };
	pthread_t thread;

	options.stop_ms = 1000 * slow();
	begin();
	grpc_open(&client, server_address(server));
	stream.message = stream_of(message, 1 << 30, 100);
	grpc_start(&client, &park);
	grpc_start(&client, &work);
	grpc_start(&client, &stream);
	while (starts < 3)
		(void)grpc_turn(&client, 10);
	ck_assert_int_eq(pthread_create(&thread, NULL, stop, NULL), 0);
	/* The notice, and then the GOAWAY with the last call that is taken. */
	while (client.last < 0 || client.last == INT32_MAX)
		(void)grpc_turn(&client, 10);
	ck_assert_int_eq(client.last, stream.stream);
	ck_assert_uint_eq(client.goaway, NGHTTP2_NO_ERROR);
	ck_assert(!park.closed && !work.closed && !stream.closed);
	call_wake(parked);
	ck_assert(grpc_wait(&client, &park));
	ck_assert_int_eq(park.status, CALL_OK);
	ck_assert(grpc_wait(&client, &work));
	ck_assert_int_eq(work.status, CALL_UNAVAILABLE);
	ck_assert(grpc_wait(&client, &stream));
	ck_assert_int_eq(stream.status, CALL_UNAVAILABLE);
	/* Between messages. */
	ck_assert_uint_eq(stream.parsed, stream.body.size);
	UNTIL(!grpc_turn(&client, 1) && client.gone);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(releases, 3);
	grpc_release(&stream);
	grpc_close(&client);
}
END_TEST

/* Peers that do not listen do not keep it. */
START_TEST(stopping_does_not_wait_for_peers)
{
	uint8_t message[8];
	struct grpc_call stream = { .path = "/t/Stream" };
	struct grpc_client idle;

	options.stop_ms = 100;
	begin();
	grpc_open(&idle, server_address(server));
	grpc_open(&client, server_address(server));
	client.stalled = true;
	stream.message = stream_of(message, 1 << 30, 100000);
	grpc_start(&client, &stream);
	while (stream.body.size == 0)
		(void)grpc_turn(&client, 10);
	server_stop(server);
	ck_assert_uint_eq(releases, 1);
	grpc_release(&stream);
	grpc_close(&client);
	grpc_close(&idle);
}
END_TEST

/* The store has to open files too. */
START_TEST(connections_leave_descriptors)
{
	struct rlimit was, few = { 64, 0 };
	struct server_options o;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &was), 0);
	few.rlim_max = was.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	server_options_init(&o, NULL);
	ck_assert_uint_eq(o.connections_max, 16);
	ck_assert_uint_le(o.others_max * o.loops, 24);
	few.rlim_cur = 10000 < was.rlim_max ? 10000 : was.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	server_options_init(&o, NULL);
	ck_assert_uint_eq(o.connections_max, 256);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		another_user_is_refused,
		another_users_process_is_refused,
		who_has_closed_is_nobody,
		all_that_are_too_many_are_told,
		crowds_leave_descriptors,
		addresses,
		a_socket_that_nobody_has_is_replaced,
		a_socket_of_systemd_is_taken,
		stopping_gives_calls_time,
		stopping_does_not_wait_for_peers,
		connections_leave_descriptors,
	};

	return run_suite("serve peers", setup_directory, teardown_directory,
			 tests, sizeof(tests) / sizeof(*tests));
}
