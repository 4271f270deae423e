#include <errno.h>

#include "fs/cells/pin.h"
#include "fs/kernel/mount.h"
#include "fs/state/options.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

static struct mount_options options;
static struct fs fs;
static struct node *table, *at;

static void setup(void)
{
	struct store_options so;
	struct store *store;

	mount_options_init(&options);
	store_options_init(&so);
	so.create = true;
	store = mem_store(&so);
	ck_assert_int_eq(fs_init(&fs, &options, store), 0);
	ck_assert_int_eq(node_enter(&fs.nodes, fs.nodes.root, NODE_TABLE,
				    BYTES_LITERAL("t"), &table),
			 0);
	ck_assert_int_eq(node_enter(&fs.nodes, table, NODE_AT,
				    BYTES_LITERAL(".at"), &at),
			 0);
}

static void teardown(void)
{
	struct store *store = fs.store;

	node_put(&fs.nodes, at);
	node_put(&fs.nodes, table);
	fs_release(&fs);
	ck_assert_int_eq(store_close(store), 0);
}

static struct node *pin(void)
{
	struct node *node;

	ck_assert_int_eq(pin_now(&fs, at, &node), 0);
	return node;
}

/* As a view under the node would find it. */
static int look(struct node *node)
{
	struct at_view view;
	int err = at_open(&fs, node, &view);

	at_close(&fs, &view);
	return err;
}

START_TEST(a_pin_is_shared)
{
	struct node *first = pin(), *second = pin();

	ck_assert_ptr_eq(first, second);
	ck_assert_int_eq(look(first), 0);
	node_put(&fs.nodes, first);
	node_put(&fs.nodes, second);
}
END_TEST

START_TEST(it_ends_when_nobody_needs_it)
{
	struct node *node = pin();

	pins_sweep(&fs, fs_steady() + AT_SHARED_US / 2);
	ck_assert_int_eq(look(node), 0);
	pins_sweep(&fs, fs_steady() + AT_SHARED_US + 1000000);
	ck_assert_int_eq(look(node), -ESTALE);
	node_put(&fs.nodes, node);
	ck_assert_ptr_null(fs.pins.first);
}
END_TEST

START_TEST(it_stays_for_who_is_in_it_but_for_an_hour_at_most)
{
	struct node *node = pin();
	struct at_view view;

	node_remember(&fs.nodes, node);
	pins_sweep(&fs, fs_steady() + AT_KEPT_US - 10000000);
	ck_assert_int_eq(look(node), 0);
	ck_assert_int_eq(at_open(&fs, node, &view), 0);
	pins_sweep(&fs, fs_steady() + AT_KEPT_US + 1);
	/* Who reads goes on. */
	ck_assert_ptr_nonnull(fs.pins.first);
	at_close(&fs, &view);
	pins_sweep(&fs, fs_steady() + AT_KEPT_US + 1);
	ck_assert_int_eq(look(node), -ESTALE);
	node_put(&fs.nodes, node);
	node_forget(&fs.nodes, node, 1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_pin_is_shared,
		it_ends_when_nobody_needs_it,
		it_stays_for_who_is_in_it_but_for_an_hour_at_most,
	};

	return run_suite("pin", setup, teardown, tests, 3);
}
