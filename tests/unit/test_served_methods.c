#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "tests/sim/grpc_client.h"
#include "tests/sim/rng.h"
#include "tests/unit/method_seeds.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"
#include "tools/serve/method/method.h"
#include "tools/serve/server.h"
#include "tools/serve/verb/routes.h"

/*
 * A server on a store, and several clients at once that call every method with
 * requests that are empty, cut short anywhere and damaged, with those of other
 * methods, and methods that there are not: each call is answered, by whichever
 * thread, and a table that nobody names stays as it is.
 */
#define CLIENTS 4

static struct service service;
static struct server *server;

/* Methods of the service that are not served; clients may ask all the same. */
static const char *const others[] = {
	"/google.bigtable.v2.Bigtable/ExecuteQuery",
	"/google.bigtable.v2.Bigtable/PrepareQuery",
	"/google.bigtable.v2.Bigtable/GetClientConfiguration",
	"/google.bigtable.v2.Bigtable/GenerateInitialChangeStreamPartitions",
	"/google.bigtable.v2.Bigtable/ReadChangeStream",
	"/google.bigtable.admin.v2.BigtableTableAdmin/UndeleteTable",
	"/google.bigtable.admin.v2.BigtableTableAdmin/CreateAuthorizedView",
	"/google.bigtable.admin.v2.BigtableTableAdmin/CreateTableFromSnapshot",
	"/google.bigtable.admin.v2.BigtableTableAdmin/CreateBackup",
	"/google.bigtable.admin.v2.BigtableTableAdmin/RestoreTable",
	"/google.bigtable.admin.v2.BigtableTableAdmin/CreateSchemaBundle",
	"/google.bigtable.admin.v2.BigtableInstanceAdmin/ListHotTablets",
	"/google.bigtable.admin.v2.BigtableInstanceAdmin/CreateLogicalView",
	"/google.bigtable.admin.v2.BigtableInstanceAdmin/"
	"CreateMaterializedView",
	"/google.longrunning.Operations/CancelOperation",
};

static void setup(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct server_options options;
	struct write *w;
	unsigned int i;
	char row[16];

	service.store = mem_store(NULL);
	ck_assert_int_eq(store_create_table(service.store,
					    BYTES_LITERAL("kept"), true,
					    &family, 1),
			 0);
	ck_assert_int_eq(store_create_table(service.store, BYTES_LITERAL("t"),
					    true, &family, 1),
			 0);
	ck_assert_int_eq(write_new(service.store, &w), 0);
	for (i = 0; i < 100; i++) {
		snprintf(row, sizeof(row), "row%u", i);
		ck_assert_int_eq(
			write_row(w, BYTES_LITERAL("kept"), bytes_string(row)),
			0);
		ck_assert_int_eq(write_set(w, BYTES_LITERAL("f"),
					   BYTES_LITERAL("q"), 1000,
					   bytes_string(row)),
				 0);
	}
	ck_assert_int_eq(store_commit(service.store, w, true), 0);
	write_free(w);
	server_options_init(&options, store_memory(service.store));
	options.listen = ":0";
	options.answerable = routes_answerable;
	/* Calls that end by an error are given up in numbers here. */
	options.resets_burst = 1000000;
	ck_assert_int_eq(server_new(&options, routes, &service, &server), 0);
	ck_assert_int_eq(server_start(server), 0);
}

/* Each of the rows is there, and nothing else. */
static void check_kept(void)
{
	struct scan_range range = { .table = BYTES_LITERAL("kept") };
	struct scan *scan;
	struct cell c;
	unsigned int count = 0;

	ck_assert_int_eq(scan_open(service.store, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &c) == 1) {
		ck_assert(bytes_equal(c.row, c.value));
		count++;
	}
	scan_close(scan);
	ck_assert_uint_eq(count, 100);
}

static void teardown(void)
{
	server_free(server);
	ck_assert_uint_eq(memory_used(store_memory(service.store), MEMORY_WIRE),
			  0);
	check_kept();
	ck_assert_int_eq(store_close(service.store), 0);
}

static int call(struct grpc_client *c, const char *path, struct bytes request)
{
	struct grpc_call call = { .path = path, .message = request };
	int status = grpc_do(c, &call);

	ck_assert_msg(call.closed && status >= 0,
		      "%s of %zu bytes is not answered", path, request.size);
	ck_assert_msg(status == CALL_OK || call.text[0], "%s says not why",
		      path);
	grpc_release(&call);
	return status;
}

static void damage(struct rng *rng, uint8_t *data, size_t size)
{
	unsigned int n;

	for (n = 1 + rng_below(rng, 3); n > 0; n--)
		data[rng_below(rng, (uint32_t)size)] =
			(uint8_t)rng_below(rng, 256);
}

/* Every client has other cuts, and begins elsewhere. */
static void *ask(void *argument)
{
	unsigned int self = *(unsigned int *)argument, i, j, count = 0;
	struct rng rng = { self };
	struct grpc_client c;
	uint8_t copy[256];
	size_t n;

	while (routes[count].path)
		count++;
	grpc_open(&c, server_address(server));
	for (i = 0; i < count; i++) {
		const char *path =
			routes[(i + self * count / CLIENTS) % count].path;

		(void)call(&c, path, BYTES_NONE);
		for (j = 0; j < sizeof(method_seeds) / sizeof(*method_seeds);
		     j++) {
			struct bytes seed = bytes_string(method_seeds[j]);

			for (n = self; n <= seed.size; n += CLIENTS)
				(void)call(&c, path, bytes_of(seed.data, n));
			for (n = 0; n < 5; n++) {
				memcpy(copy, seed.data, seed.size);
				damage(&rng, copy, seed.size);
				(void)call(&c, path, bytes_of(copy, seed.size));
			}
		}
	}
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		ck_assert_int_eq(
			call(&c, others[i], bytes_string(method_seeds[0])),
			CALL_UNIMPLEMENTED);
	grpc_close(&c);
	return NULL;
}

START_TEST(each_is_answered)
{
	pthread_t threads[CLIENTS];
	unsigned int selves[CLIENTS], i;

	for (i = 0; i < CLIENTS; i++) {
		selves[i] = i;
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, ask, &selves[i]), 0);
	}
	for (i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	check_kept();
}
END_TEST

int main(void)
{
	const TTest *tests[] = { each_is_answered };

	return run_suite("served methods", setup, teardown, tests, 1);
}
