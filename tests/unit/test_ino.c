#include "fs/state/ino.h"
#include "fs/state/path.h"
#include "tests/unit/suite.h"

static struct nodes nodes;
static struct node *family;

static struct node *enter(struct node *parent, enum node_kind kind,
			  const char *name)
{
	struct node *node;

	ck_assert_int_eq(
		node_enter(&nodes, parent, kind, bytes_string(name), &node), 0);
	return node;
}

static void setup(void)
{
	struct node *table, *row;

	ck_assert_int_eq(nodes_init(&nodes), 0);
	table = enter(nodes.root, NODE_TABLE, "t");
	row = enter(table, NODE_ROW, "r");
	family = enter(row, NODE_FAMILY, "f");
	node_put(&nodes, table);
	node_put(&nodes, row);
}

/* Nothing is kept once all is closed. */
static void teardown(void)
{
	ck_assert_uint_eq(nodes.held_count, 0);
	node_put(&nodes, family);
	ck_assert_uint_eq(nodes.count, 0);
	nodes_release(&nodes);
}

/* What stat shows of a cell. */
static uint64_t number(struct node *cell)
{
	return ino_of_cell(&nodes, cell, node_ino(&nodes, cell));
}

/* What a list of the family shows. */
static uint64_t listed(const char *name)
{
	return ino_of_listed(&nodes, family, node_ino(&nodes, family),
			     bytes_string(name));
}

static void rename_to(struct node *node, const char *name)
{
	node_rename(&nodes, node, node_name_new(bytes_string(name)),
		    strlen(name));
}

START_TEST(a_number_is_a_hash_of_the_path)
{
	struct node *a = enter(family, NODE_CELL, "a");
	struct path path;

	ck_assert_int_eq(node_path(&nodes, a, &path), 0);
	ck_assert(path_ino(&path, NODE_CELL) == node_ino(&nodes, a));
	ck_assert(number(a) == node_ino(&nodes, a));
	ck_assert(listed("a") == number(a));
	ck_assert(listed("b") != number(a));
	path_release(&path);
	ck_assert_int_eq(ino_hold(&nodes, a), 0);
	ck_assert(number(a) == node_ino(&nodes, a));
	ck_assert(listed("a") == number(a));
	ck_assert(!ino_let_go(&nodes, a));
	node_put(&nodes, a);
}
END_TEST

START_TEST(what_replaces_an_open_file_has_another_number)
{
	struct node *old = enter(family, NODE_CELL, "a"), *other, *third;
	uint64_t hash = number(old);

	ck_assert_int_eq(ino_hold(&nodes, old), 0);
	node_detach(&nodes, old);
	ck_assert(number(old) == hash);
	ck_assert(listed("a") != hash);
	other = enter(family, NODE_CELL, "a");
	ck_assert(number(other) != hash);
	ck_assert(listed("a") == number(other));
	/* And so has what replaces that. */
	ck_assert_int_eq(ino_hold(&nodes, other), 0);
	node_detach(&nodes, other);
	third = enter(family, NODE_CELL, "a");
	ck_assert(number(third) != hash);
	ck_assert(number(third) != number(other));
	ck_assert(listed("a") == number(third));
	ck_assert(ino_let_go(&nodes, old));
	ck_assert(number(third) == hash);
	ck_assert(number(other) != hash);
	ck_assert(ino_let_go(&nodes, other));
	ck_assert(listed("a") == hash);
	node_put(&nodes, old);
	node_put(&nodes, other);
	node_put(&nodes, third);
}
END_TEST

/* Whoever looked it up may open it after another has taken its name. */
START_TEST(a_removed_file_has_no_number_of_a_name)
{
	struct node *old = enter(family, NODE_CELL, "a"), *other;
	uint64_t hash = number(old);

	node_detach(&nodes, old);
	other = enter(family, NODE_CELL, "a");
	ck_assert(number(other) == hash);
	ck_assert(number(old) != hash);
	ck_assert_int_eq(ino_hold(&nodes, old), 0);
	ck_assert(number(old) != hash);
	ck_assert(number(other) == hash);
	ck_assert(!ino_let_go(&nodes, old));
	node_put(&nodes, old);
	node_put(&nodes, other);
}
END_TEST

START_TEST(an_open_file_keeps_its_number_over_renames)
{
	struct node *a = enter(family, NODE_CELL, "a"), *b, *made;
	uint64_t hash = number(a), hash_of_b;

	ck_assert_int_eq(ino_hold(&nodes, a), 0);
	ck_assert_int_eq(ino_hold(&nodes, a), 0);
	b = enter(family, NODE_CELL, "b");
	hash_of_b = number(b);
	rename_to(a, "b");
	ck_assert(number(a) == hash);
	ck_assert(listed("b") == hash);
	rename_to(family->parent, "s");
	ck_assert(number(a) == hash);
	rename_to(family->parent, "r");
	made = enter(family, NODE_CELL, "a");
	ck_assert(number(made) != hash);
	/* Only the last close ends that. */
	ck_assert(!ino_let_go(&nodes, a));
	ck_assert(number(a) == hash);
	ck_assert(ino_let_go(&nodes, a));
	ck_assert(number(a) == hash_of_b);
	ck_assert(number(made) == hash);
	node_put(&nodes, a);
	node_put(&nodes, b);
	node_put(&nodes, made);
}
END_TEST

START_TEST(a_close_tells_whether_others_were_told)
{
	struct node *a = enter(family, NODE_CELL, "a"), *b;

	/* Removed, and nobody asked for the name. */
	ck_assert_int_eq(ino_hold(&nodes, a), 0);
	node_detach(&nodes, a);
	ck_assert(!ino_let_go(&nodes, a));
	node_put(&nodes, a);
	/* Exchanged: both show what they had. */
	a = enter(family, NODE_CELL, "a");
	b = enter(family, NODE_CELL, "b");
	ck_assert_int_eq(ino_hold(&nodes, a), 0);
	node_exchange(&nodes, a, b);
	ck_assert(number(a) == listed("b"));
	ck_assert(number(b) == listed("a"));
	ck_assert(number(a) != number(b));
	ck_assert(ino_let_go(&nodes, a));
	node_put(&nodes, a);
	node_put(&nodes, b);
}
END_TEST

START_TEST(many_open_files_have_numbers_of_their_own)
{
	enum { COUNT = 300 };
	static struct node *all[COUNT];
	int i, k, same = 0;

	/* Each replaces the one before. */
	for (i = 0; i < COUNT; i++) {
		all[i] = enter(family, NODE_CELL, "a");
		ck_assert_int_eq(ino_hold(&nodes, all[i]), 0);
		node_detach(&nodes, all[i]);
	}
	for (i = 0; i < COUNT; i++)
		for (k = 0; k < i; k++)
			same += number(all[i]) == number(all[k]);
	ck_assert_int_eq(same, 0);
	ck_assert_uint_eq(nodes.held_count, COUNT);
	for (i = 0; i < COUNT; i++) {
		ino_let_go(&nodes, all[i]);
		node_put(&nodes, all[i]);
	}
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_number_is_a_hash_of_the_path,
		what_replaces_an_open_file_has_another_number,
		a_removed_file_has_no_number_of_a_name,
		an_open_file_keeps_its_number_over_renames,
		a_close_tells_whether_others_were_told,
		many_open_files_have_numbers_of_their_own,
	};

	return run_suite("ino", setup, teardown, tests, 6);
}
