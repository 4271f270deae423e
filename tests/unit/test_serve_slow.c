#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/base/clock.h"
#include "tests/sim/wire_calls.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"
#include "tests/unit/volume_directory.h"
#include "tools/serve/method/method.h"
#include "tools/serve/server.h"
#include "tools/serve/verb/routes.h"

/* Who takes or brings a large row as slowly as one may, and others' rows. */
#define MIB ((size_t)1 << 20)
enum { HUGE_ROW = 99, TURN_MS = 100, PER_TURN = 82 << 10 };

static struct service service;
static struct server *server;

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

/* A row of so many MiB in one value, by its name. */
static void put_row(size_t mib)
{
	uint8_t *data = malloc(mib * MIB);
	struct write *w;
	char name[16];
	size_t i;

	for (i = 0; i < mib * MIB; i++)
		data[i] = (uint8_t)((i * 2654435761U) >> 20);
	snprintf(name, sizeof(name), "r%zu", mib);
	ck_assert_int_eq(write_new(service.store, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str(name)), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("q"), 1000,
				   bytes_of(data, mib * MIB)),
			 0);
	ck_assert_int_eq(store_commit(service.store, w, false), 0);
	write_free(w);
	free(data);
}

static void setup(void)
{
	struct family_spec family = { .name = str("f") };
	struct server_options options;
	struct store_options store;

	set_up();
	mem_store_options(&store);
	ck_assert_int_eq(store_open(directory, &store, &service.store), 0);
	ck_assert_int_eq(
		store_create_table(service.store, str("t"), true, &family, 1),
		0);
	server_options_init(&options, store_memory(service.store));
	options.listen = ":0";
	options.answerable = routes_answerable;
	ck_assert_int_eq(server_new(&options, routes, &service, &server), 0);
	ck_assert_int_eq(server_start(server), 0);
}

static void teardown(void)
{
	server_free(server);
	ck_assert_uint_eq(memory_used(store_memory(service.store), MEMORY_WIRE),
			  0);
	ck_assert_int_eq(store_close(service.store), 0);
	tear_down();
}

static void start_read(struct grpc_client *c, struct wire_call *w, size_t mib,
		       struct proto_row_filter *filter)
{
	struct proto_row_set rows = { 0 };
	char name[256], row[16];
	struct bytes key;
	struct proto_read_rows q = { .table_name = wire_table_name(name, "t"),
				     .rows = &rows,
				     .filter = filter };

	snprintf(row, sizeof(row), "r%zu", mib);
	key = str(row);
	rows.row_keys.at = &key;
	rows.row_keys.count = 1;
	wire_start(c, w, WIRE_DATA "ReadRows", &proto_read_rows_type, &q);
}

static atomic_bool over;

/* What is to be done in a turn's time, and the rest of that. */
static void turn_once(struct grpc_client *c)
{
	uint64_t end = clock_now(&clock_steady) + TURN_MS * 1000;

	while (clock_now(&clock_steady) < end)
		(void)grpc_turn(c, 10);
}

/* Reads the largest row at 0.8 MiB a second. */
static void *read_slowly(void *context)
{
	struct grpc_client *c = context;
	struct wire_call w;

	c->stalled = true;
	start_read(c, &w, HUGE_ROW, NULL);
	while (!over && !w.call.closed) {
		(void)nghttp2_submit_window_update(c->session, 0, w.call.stream,
						   PER_TURN);
		(void)nghttp2_submit_window_update(c->session, 0, 0, PER_TURN);
		turn_once(c);
	}
	ck_assert(!w.call.closed);
	wire_end(&w);
	return NULL;
}

/* Brings a request as large, at first half of it at once. */
static void *write_slowly(void *context)
{
	struct grpc_client *c = context;
	uint8_t *data = calloc(HUGE_ROW, MIB);
	struct grpc_call call = { .path = WIRE_DATA "MutateRow",
				  .message = bytes_of(data, HUGE_ROW * MIB),
				  .cut = HUGE_ROW * MIB / 2,
				  .unfinished = true };

	grpc_start(c, &call);
	while (call.sent + call.cut < call.message.size)
		(void)grpc_turn(c, 10);
	while (!over && !call.closed) {
		call.cut -= PER_TURN;
		(void)nghttp2_session_resume_data(c->session, call.stream);
		turn_once(c);
	}
	ck_assert(!call.closed);
	grpc_release(&call);
	free(data);
	return NULL;
}

/* Another's row, which comes at once. */
static void check_row(size_t mib, struct proto_row_filter *filter)
{
	uint64_t began = clock_now(&clock_steady), took;
	struct grpc_client c;
	struct wire_call w;

	grpc_open(&c, server_address(server));
	start_read(&c, &w, mib, filter);
	(void)grpc_wait(&c, &w.call);
	took = (clock_now(&clock_steady) - began) / 1000;
	ck_assert_msg(w.call.status == 0 && took < 10000,
		      "a row of %zu MiB: %d after %llu ms, %s", mib,
		      w.call.status, (unsigned long long)took, w.call.text);
	ck_assert_uint_gt(w.call.body.size, mib * MIB);
	wire_end(&w);
	grpc_close(&c);
}

/* A quarter of the memory is 12 MiB: rows up to that come beside the one that
 * has gone beyond, whether a filter is asked about their values or not. */
static void check_beside(void *(*slowly)(void *context), size_t mib)
{
	struct proto_row_filter newest = {
		.filter_case = nr_row_filter_cells_per_column_limit_filter,
		.cells_per_column_limit_filter = 1,
	};
	struct proto_row_filter value = {
		.filter_case = nr_row_filter_value_regex_filter,
		.value_regex_filter = str("\\C*"),
	};
	static const size_t sizes[] = { 1, 6, 11 };
	struct grpc_client slow;
	pthread_t thread;
	size_t i;

	put_row(HUGE_ROW);
	for (i = 0; i < 3; i++)
		put_row(sizes[i]);
	grpc_open(&slow, server_address(server));
	over = false;
	ck_assert_int_eq(pthread_create(&thread, NULL, slowly, &slow), 0);
	while (memory_used(store_memory(service.store), MEMORY_WIRE) <
	       mib * MIB)
		usleep(1000);
	for (i = 0; i < 3; i++) {
		check_row(sizes[i], NULL);
		check_row(sizes[i], &newest);
		check_row(sizes[i], &value);
	}
	over = true;
	pthread_join(thread, NULL);
	grpc_close(&slow);
}

START_TEST(a_slow_reader_leaves_the_rest)
{
	check_beside(read_slowly, HUGE_ROW);
}
END_TEST

START_TEST(a_slow_writer_leaves_the_rest)
{
	check_beside(write_slowly, HUGE_ROW / 2);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { a_slow_reader_leaves_the_rest,
				 a_slow_writer_leaves_the_rest };

	return run_suite("serve slow", setup, teardown, tests, 2);
}
