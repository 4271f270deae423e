#include <errno.h>

#include "fs/cells/pin.h"
#include "fs/kernel/mount.h"
#include "fs/query/as_of.h"
#include "fs/query/at.h"
#include "fs/state/options.h"
#include "store/engine/core/history.h"
#include "store/engine/core/state.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Names of times in .as-of, and how long moments are held for who looks. */

#define SECOND UINT64_C(1000000)

static struct mount_options options;
static struct fs fs;
static struct node *table, *as_of;
static uint64_t now_us;

static uint64_t now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock test_clock = { now, NULL };

static void create(const char *name)
{
	struct family_spec f = { .name = BYTES_LITERAL("f") };

	ck_assert_int_eq(
		store_create_table(fs.store, bytes_string(name), false, &f, 1),
		0);
}

static uint32_t id_of(const char *name)
{
	return store_table_id(fs.store, NULL, bytes_string(name));
}

static void put(const char *value)
{
	struct write *w;

	ck_assert_int_eq(write_new(fs.store, &w), 0);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("row")),
			 0);
	ck_assert_int_eq(write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"),
				   now_us, bytes_string(value)),
			 0);
	ck_assert_int_eq(store_commit(fs.store, w, false), 0);
	write_free(w);
}

/* Something changes, time goes by, and the moment is noted: its time. */
static uint64_t tick(void)
{
	put("value");
	now_us += SECOND;
	ck_assert_int_eq(history_note(store_engine(fs.store)), 0);
	return now_us;
}

/* The directory .as-of of a table of this name. */
static void enter(const char *name)
{
	ck_assert_int_eq(node_enter(&fs.nodes, fs.nodes.root, NODE_TABLE,
				    bytes_string(name), &table),
			 0);
	table->table_id = id_of(name);
	ck_assert_int_eq(node_enter(&fs.nodes, table, NODE_AS_OF,
				    BYTES_LITERAL(".as-of"), &as_of),
			 0);
}

static void leave(void)
{
	node_put(&fs.nodes, as_of);
	node_put(&fs.nodes, table);
}

static void set_up(void)
{
	struct store_options so;

	mount_options_init(&options);
	now_us = UINT64_C(1000000) * SECOND;
	mem_store_options(&so);
	so.clock = &test_clock;
	ck_assert_int_eq(fs_init(&fs, &options, mem_store(&so)), 0);
	create("t");
	ck_assert_int_eq(store_set_history(fs.store, 86400 * SECOND, 0), 0);
	enter("t");
}

static void tear_down(void)
{
	struct store *store = fs.store;

	leave();
	fs_release(&fs);
	ck_assert_int_eq(store_close(store), 0);
}

/* As at_lookup. */
static int look(const char *name, struct node **out)
{
	return at_lookup(&fs, as_of, bytes_string(name), out);
}

static struct node *at(uint64_t us)
{
	struct node *node;
	char name[32];

	snprintf(name, sizeof(name), "%llu", (unsigned long long)us);
	ck_assert_int_eq(look(name, &node), 1);
	return node;
}

/* As who reads below node would find it. */
static int view(struct node *node)
{
	struct at_view v;
	int err = at_open(&fs, node, &v);

	at_close(&fs, &v);
	return err;
}

static uint64_t held(void)
{
	return memory_used(store_memory(fs.store), MEMORY_MOMENTS);
}

static void leads_to(const char *name, uint64_t moment_us)
{
	struct buf target = BUF_INIT;
	char text[CLOCK_TEXT_SIZE];
	struct node *node;

	ck_assert_int_eq(look(name, &node), 1);
	ck_assert_int_eq(node->kind, NODE_AS_OF_LINK);
	ck_assert_int_eq(as_of_target(&fs, node, &target), 0);
	clock_print(moment_us, text, sizeof(text));
	ck_assert(bytes_equal(buf_bytes(&target), bytes_string(text)));
	buf_release(&target);
	node_put(&fs.nodes, node);
}

START_TEST(names_of_times)
{
	uint64_t first = tick(), second;
	struct node *node;
	struct history history;
	size_t i;
	static const char *const wrong[] = { "m",   "5",          "5x",
					     "5mm", "-5m",        "1h30m",
					     "now", "0000000005m" };

	now_us += 3600 * SECOND;
	second = tick();
	node = at(first);
	ck_assert_uint_eq(node->timestamp_us, first);
	node_put(&fs.nodes, node);
	node = at(second - 1);
	ck_assert_uint_eq(node->timestamp_us, first);
	node_put(&fs.nodes, node);
	leads_to("0s", second);
	leads_to("1m", first);
	leads_to("60m", first);
	store_history(fs.store, &history);
	leads_to("oldest", history.oldest_us);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ck_assert_int_eq(look(wrong[i], &node),
				 /* five microseconds after 1970 */
				 i == 1 ? -ERR_no_moment : -ENOENT);
	ck_assert_int_eq(look("2h", &node), -ERR_no_moment);
	ck_assert_int_eq(look("999999999w", &node), -ERR_no_moment);
	ck_assert_int_eq(look("9999-01-01T00:00:00Z", &node), -ENOENT);
	ck_assert_int_eq(look(".git", &node), 0);
}
END_TEST

START_TEST(what_is_listed)
{
	struct names names = { .names = NULL };

	ck_assert_int_eq(store_set_history(fs.store, 0, 0), 0);
	ck_assert_int_eq(as_of_add_names(&fs, &names), 0);
	ck_assert_uint_eq(names.count, 0);
	ck_assert_int_eq(store_set_history(fs.store, 86400 * SECOND, 0), 0);
	tick();
	now_us += 3600 * SECOND;
	ck_assert_int_eq(as_of_add_names(&fs, &names), 0);
	/* oldest, 1m, 5m, 15m, 1h */
	ck_assert_uint_eq(names.count, 5);
	names_release(&names);
}
END_TEST

START_TEST(two_look_at_one)
{
	uint64_t us = tick(), one;
	struct node *a = at(us), *b = at(us), *other;

	one = held();
	now_us += SECOND;
	other = at(us + 1);

	ck_assert_ptr_eq(a, b);
	ck_assert_ptr_ne(a, other);
	ck_assert_int_eq(view(other), 0);
	ck_assert_uint_eq(fs.pins.moments, 1);
	ck_assert_uint_gt(one, 0);
	ck_assert_uint_eq(held(), one);
	node_put(&fs.nodes, a);
	node_put(&fs.nodes, b);
	node_put(&fs.nodes, other);
}
END_TEST

START_TEST(those_held_are_bounded)
{
	struct node *nodes[3 * MOMENTS_HELD];
	struct at_view used;
	size_t i;

	for (i = 0; i < 3 * MOMENTS_HELD; i++)
		nodes[i] = at(tick());
	ck_assert_uint_eq(fs.pins.moments, MOMENTS_HELD);
	ck_assert_int_eq(at_open(&fs, nodes[0], &used), 0);
	for (i = 0; i < 3 * MOMENTS_HELD; i++) {
		ck_assert_int_eq(view(nodes[i]), 0);
		node_put(&fs.nodes, nodes[i]);
	}
	ck_assert_uint_eq(fs.pins.moments, MOMENTS_HELD);
	/* Who reads goes on. */
	ck_assert_uint_eq(store_moment_time(used.snapshot),
			  now_us - (3 * MOMENTS_HELD - 1) * SECOND);
	at_close(&fs, &used);
	pins_sweep(&fs, fs_steady() + AT_KEPT_US - 10000000);
	ck_assert_uint_eq(fs.pins.moments, MOMENTS_HELD);
	pins_sweep(&fs, fs_steady() + AT_KEPT_US + 1);
	ck_assert_uint_eq(fs.pins.moments, 0);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

/* Whoever goes on asking, history can let go of it. */
START_TEST(after_an_hour_it_is_not_held)
{
	struct node *node = at(tick());
	struct at_view v;

	pins_sweep(&fs, fs_steady() + AT_KEPT_US + 1);
	ck_assert_uint_eq(fs.pins.moments, 0);
	ck_assert_uint_eq(held(), 0);
	ck_assert_int_eq(at_open(&fs, node, &v), 0);
	ck_assert_uint_eq(store_moment_time(v.snapshot), now_us);
	ck_assert_uint_eq(fs.pins.moments, 0);
	at_close(&fs, &v);
	ck_assert_ptr_null(store_engine(fs.store)->past);
	pins_sweep(&fs, fs_steady() + AT_KEPT_US + MOMENT_RESTS_US + 1);
	ck_assert_ptr_null(fs.pins.first);
	ck_assert_int_eq(view(node), 0);
	ck_assert_uint_eq(fs.pins.moments, 1);
	node_put(&fs.nodes, node);
}
END_TEST

/* Seconds become minutes: who is in one of them stays there as long as it is
 * held. */
START_TEST(one_that_is_held_stays)
{
	uint64_t us, i;
	struct node *node, *again;

	while (now_us / SECOND % 60 != 30)
		tick();
	us = tick();
	node = at(us);
	for (i = 0; i < 1200; i++)
		tick();
	ck_assert_int_eq(view(node), 0);
	again = at(us);
	ck_assert_ptr_eq(again, node);
	node_put(&fs.nodes, again);
	pins_sweep(&fs, fs_steady() + AT_KEPT_US + 1);
	tick();
	ck_assert_int_eq(view(node), -ERR_moment_gone);
	/* Its name is that of the minute before. */
	again = at(us);
	ck_assert_ptr_ne(again, node);
	ck_assert_uint_lt(again->timestamp_us, us);
	ck_assert_int_eq(view(again), 0);
	ck_assert_int_eq(view(node), -ERR_moment_gone);
	node_put(&fs.nodes, again);
	node_put(&fs.nodes, node);
}
END_TEST

START_TEST(what_is_given_up_is_gone)
{
	struct node *node = at(tick()), *again;
	char name[32];

	ck_assert_int_eq(view(node), 0);
	ck_assert_int_eq(store_set_history(fs.store, 0, 0), 0);
	ck_assert_int_eq(view(node), -ERR_moment_gone);
	ck_assert_int_eq(err_errno(-ERR_moment_gone), ESTALE);
	snprintf(name, sizeof(name), "%llu", (unsigned long long)now_us);
	ck_assert_int_eq(look(name, &again), -ERR_no_moment);
	ck_assert_int_eq(err_errno(-ERR_no_moment), ENOENT);
	node_put(&fs.nodes, node);
}
END_TEST

START_TEST(which_table_it_is)
{
	uint32_t first = id_of("t");
	uint64_t us = tick();
	struct node *node = at(us), *none;
	char name[32];

	ck_assert_uint_eq(node->table_id, first);
	node_put(&fs.nodes, node);
	/* By its id, where it has another name now. */
	leave();
	ck_assert_int_eq(store_rename_table(fs.store, bytes_string("t"),
					    bytes_string("u")),
			 0);
	create("t");
	enter("u");
	node = at(us);
	ck_assert_uint_eq(node->table_id, first);
	node_put(&fs.nodes, node);
	/* By its name, where it was not there yet. */
	leave();
	enter("t");
	node = at(us);
	ck_assert_uint_eq(node->table_id, first);
	node_put(&fs.nodes, node);
	leave();
	create("v");
	enter("v");
	snprintf(name, sizeof(name), "%llu", (unsigned long long)us);
	ck_assert_int_eq(look(name, &none), -ENOENT);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		names_of_times,
		what_is_listed,
		two_look_at_one,
		those_held_are_bounded,
		after_an_hour_it_is_not_held,
		one_that_is_held_stays,
		what_is_given_up_is_gone,
		which_table_it_is,
	};

	return run_suite("as_of", set_up, tear_down, tests, 8);
}
