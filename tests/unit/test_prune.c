#include <stdio.h>
#include <string.h>

#include "fs/cells/prune.h"
#include "tests/unit/suite.h"

static struct nodes nodes;
static uint64_t ids[NODES_PRUNED_AT_ONCE];

static void setup(void)
{
	ck_assert_int_eq(nodes_init(&nodes), 0);
}

static void teardown(void)
{
	nodes_release(&nodes);
}

/* As a lookup leaves it: the kernel alone refers to it. */
static struct node *remembered(struct node *parent, enum node_kind kind,
			       const char *name)
{
	struct node *node;

	ck_assert_int_eq(
		node_enter(&nodes, parent, kind, bytes_string(name), &node), 0);
	node_hand_out(&nodes, node);
	return node;
}

/* How often node is chosen while the hand goes round once. */
static unsigned int times_chosen(const struct node *node)
{
	size_t start = nodes.hand;
	unsigned int times = 0;
	uint32_t i, count;

	do {
		count = prune_choose(&nodes, ids);
		for (i = 0; i < count; i++)
			times += ids[i] == node_id(&nodes, node);
	} while (nodes.hand != start);
	return times;
}

START_TEST(what_only_the_kernel_refers_to_can_go)
{
	struct node *table = remembered(nodes.root, NODE_TABLE, "t");
	struct node *row = remembered(table, NODE_ROW, "r");

	ck_assert_uint_eq(times_chosen(row), 1);
	/* It is looked up, or open. */
	node_get(&nodes, row);
	ck_assert_uint_eq(times_chosen(row), 0);
	node_put(&nodes, row);
	ck_assert_uint_eq(times_chosen(row), 1);
	/* It has children. */
	ck_assert_uint_eq(times_chosen(table), 0);
	node_forget(&nodes, row, 1);
	ck_assert_uint_eq(times_chosen(table), 1);
}
END_TEST

START_TEST(what_only_memory_knows_stays)
{
	static const char origin[] = "e";
	struct node *table = remembered(nodes.root, NODE_TABLE, "t");
	struct node *row = remembered(table, NODE_ROW, "r");
	struct node *cell = remembered(table, NODE_CELL, "c");

	node_set_local(&nodes, row, true);
	ck_assert_uint_eq(times_chosen(row), 0);
	node_set_local(&nodes, row, false);
	ck_assert_uint_eq(times_chosen(row), 1);
	/* Its history is to go back to another name. */
	cell->renamed_from = bytes_of((const uint8_t *)strdup(origin), 1);
	ck_assert_uint_eq(times_chosen(cell), 0);
	nodes.memory += 2 * NODES_MEMORY_MAX;
	ck_assert_uint_eq(times_chosen(cell), 1);
}
END_TEST

START_TEST(all_go_in_the_end)
{
	struct node *table = remembered(nodes.root, NODE_TABLE, "t");
	char name[16];
	uint32_t count;
	int i;

	for (i = 0; i < 10 * NODES_PRUNED_AT_ONCE; i++) {
		snprintf(name, sizeof(name), "row%d", i);
		remembered(table, NODE_ROW, name);
	}
	for (i = 0; nodes.count > 0; i++) {
		ck_assert_int_lt(i, 100);
		count = prune_choose(&nodes, ids);
		ck_assert_uint_le(count, NODES_PRUNED_AT_ONCE);
		while (count > 0)
			node_forget(&nodes, node_of(&nodes, ids[--count]), 1);
	}
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		what_only_the_kernel_refers_to_can_go,
		what_only_memory_knows_stays,
		all_go_in_the_end,
	};

	return run_suite("prune", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
