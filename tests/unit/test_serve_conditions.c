#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "store/base/clock.h"
#include "tests/sim/wire_calls.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"
#include "tools/serve/method/method.h"
#include "tools/serve/server.h"
#include "tools/serve/verb/routes.h"

/* Conditions that take long, many of one client, and what others' short updates
 * wait for beside them. */
enum { SLOW_CALLS = 30, CELLS = 20000, COPIES = 80 };

static struct service service;
static struct server *server;

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

static void setup(void)
{
	struct family_spec family = { .name = str("f") };
	struct server_options options;
	struct write *w;
	char name[16];
	int i;

	service.store = mem_store(NULL);
	ck_assert_int_eq(
		store_create_table(service.store, str("t"), true, &family, 1),
		0);
	ck_assert_int_eq(write_new(service.store, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("long")), 0);
	for (i = 0; i < CELLS; i++) {
		snprintf(name, sizeof(name), "c%05d", i);
		ck_assert_int_eq(
			write_set(w, str("f"), str(name), 1000, str("v")), 0);
	}
	ck_assert_int_eq(store_commit(service.store, w, false), 0);
	write_free(w);
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
}

/* Copies of each cell, of which none passes. */
static struct proto_row_filter copies[COPIES], parts[2], slow_filter;
static struct proto_filter_interleave interleave = { { copies, COPIES }, 0 };
static struct proto_filter_chain chain = { { parts, 2 }, 0 };
static struct proto_value_range range;

static void make_filter(void)
{
	size_t i;

	for (i = 0; i < COPIES; i++) {
		copies[i].filter_case = nr_row_filter_pass_all_filter;
		copies[i].pass_all_filter = true;
	}
	range.start_value_case = nr_value_range_start_value_closed;
	range.start_value_closed = str("x");
	parts[0].filter_case = nr_row_filter_interleave;
	parts[0].interleave = &interleave;
	parts[1].filter_case = nr_row_filter_value_range_filter;
	parts[1].value_range_filter = &range;
	slow_filter.filter_case = nr_row_filter_chain;
	slow_filter.chain = &chain;
}

static struct proto_set_cell cell = { .column_qualifier = { 0 } };
static struct proto_mutation set_cell = {
	.mutation_case = nr_mutation_set_cell,
	.set_cell = &cell,
};

static void start_check(struct grpc_client *c, struct wire_call *w,
			const char *row, struct proto_row_filter *filter,
			bool changes)
{
	static char name[256];
	struct proto_check_and_mutate_row q = {
		.table_name = wire_table_name(name, "t"),
		.row_key = str(row),
		.predicate_filter = filter,
		.false_mutations = { &set_cell, changes },
		.true_mutations = { &set_cell, 1 },
	};

	cell = (struct proto_set_cell){ str("f"), str("q"), 1000, str("a"), 0 };
	wire_start(c, w, WIRE_DATA "CheckAndMutateRow",
		   &proto_check_and_mutate_row_type, &q);
}

/* Another's short update: how long it takes, in ms. */
static uint64_t short_update(struct grpc_client *c, bool modifies)
{
	static char name[256];
	struct proto_read_modify_write_rule rule = {
		.family_name = str("f"),
		.column_qualifier = str("n"),
		.rule_case = nr_read_modify_write_rule_increment_amount,
		.increment_amount = 1,
	};
	struct proto_read_modify_write_row q = {
		.table_name = wire_table_name(name, "t"),
		.row_key = str("other"),
		.rules = { &rule, 1 },
	};
	uint64_t began = clock_now(&clock_steady);
	struct wire_call w;

	if (modifies)
		wire_start(c, &w, WIRE_DATA "ReadModifyWriteRow",
			   &proto_read_modify_write_row_type, &q);
	else
		start_check(c, &w, "short", NULL, true);
	ck_assert(grpc_wait(c, &w.call));
	ck_assert_int_eq(w.call.status, CALL_OK);
	wire_end(&w);
	return (clock_now(&clock_steady) - began) / 1000;
}

static bool is_slow_left(struct grpc_client *c, const struct wire_call *calls)
{
	size_t i;

	(void)grpc_turn(c, 0);
	for (i = 0; i < SLOW_CALLS; i++)
		if (!calls[i].call.closed)
			return true;
	return false;
}

/* Many long ones, that change their row or do not: of another's updates each
 * takes a small part of the time that these take. */
static void check_beside(bool changes)
{
	static struct wire_call calls[SLOW_CALLS];
	struct grpc_client slow, other;
	uint64_t took, longest = 0, count = 0, began, all;
	size_t i;

	make_filter();
	grpc_open(&slow, server_address(server));
	grpc_open(&other, server_address(server));
	began = clock_now(&clock_steady);
	for (i = 0; i < SLOW_CALLS; i++)
		start_check(&slow, &calls[i], "long", &slow_filter, changes);
	while (is_slow_left(&slow, calls)) {
		took = short_update(&other, count++ % 2);
		longest = took > longest ? took : longest;
	}
	all = (clock_now(&clock_steady) - began) / 1000;
	printf("%d long conditions took %llu ms, of %llu short updates beside "
	       "them the longest %llu ms\n",
	       SLOW_CALLS, (unsigned long long)all, (unsigned long long)count,
	       (unsigned long long)longest);
	for (i = 0; i < SLOW_CALLS; i++) {
		ck_assert_int_eq(calls[i].call.status, CALL_OK);
		wire_end(&calls[i]);
	}
	grpc_close(&slow);
	grpc_close(&other);
	ck_assert_uint_gt(count, 10);
	ck_assert_uint_lt(longest, all / 3);
}

/* Whether a condition is long is for who asks, and nobody else: others' updates
 * come between. */
START_TEST(long_conditions_hold_up_nobody)
{
	check_beside(false);
}
END_TEST

START_TEST(long_conditions_of_one_row_hold_up_nobody)
{
	check_beside(true);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { long_conditions_hold_up_nobody,
				 long_conditions_of_one_row_hold_up_nobody };

	return run_suite("serve conditions", setup, teardown, tests, 2);
}
