#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "fs/state/node.h"
#include "fs/state/ino.h"
#include "fs/state/path.h"
#include "store/base/err.h"
#include "tests/unit/suite.h"

static struct nodes nodes;

static void setup(void)
{
	ck_assert_int_eq(nodes_init(&nodes), 0);
}

static void teardown(void)
{
	nodes_release(&nodes);
}

static struct node *enter(struct node *parent, enum node_kind kind,
			  const char *name)
{
	struct node *node;

	ck_assert_int_eq(
		node_enter(&nodes, parent, kind, bytes_string(name), &node), 0);
	return node;
}

/* Whether the name is found, without keeping it. */
static struct node *find(struct node *parent, enum node_kind kind,
			 const char *name)
{
	struct node *node = node_find(&nodes, parent, kind, bytes_string(name));

	node_put(&nodes, node);
	return node;
}

START_TEST(a_node_lives_as_long_as_it_is_referred_to)
{
	struct node *table = enter(nodes.root, NODE_TABLE, "t");
	struct node *row = enter(table, NODE_ROW, "r");

	ck_assert_ptr_eq(enter(nodes.root, NODE_TABLE, "t"), table);
	node_put(&nodes, table);
	node_put(&nodes, table);
	ck_assert_ptr_eq(find(nodes.root, NODE_TABLE, "t"), table);
	node_remember(&nodes, row);
	node_remember(&nodes, row);
	node_put(&nodes, row);
	node_forget(&nodes, row, 1);
	ck_assert_ptr_eq(find(table, NODE_ROW, "r"), row);
	ck_assert_uint_eq(nodes.count, 2);
	node_forget(&nodes, row, 1);
	ck_assert_uint_eq(nodes.count, 0);
}
END_TEST

static void rename_to(struct node *node, const char *name)
{
	node_rename(&nodes, node, node_name_new(bytes_string(name)),
		    strlen(name));
}

static int make(struct node *parent, enum node_kind kind, const char *name,
		uid_t uid)
{
	struct node *node = enter(parent, kind, name);
	int err = node_make(&nodes, node, uid);

	node_put(&nodes, node);
	return err;
}

START_TEST(memory_is_that_of_all_nodes)
{
	struct node *table = enter(nodes.root, NODE_TABLE, "t");
	size_t one = nodes.memory - 1;
	struct node *row = enter(table, NODE_ROW, "a row");
	struct node *other = enter(table, NODE_ROW, "another row");

	ck_assert_uint_gt(one, sizeof(*table));
	ck_assert_uint_eq(nodes.memory, 3 * one + 1 + 5 + 11);
	node_exchange(&nodes, row, other);
	ck_assert_uint_eq(nodes.memory, 3 * one + 1 + 5 + 11);
	rename_to(row, "its new name");
	ck_assert_uint_eq(nodes.memory, 3 * one + 1 + 5 + 12);
	node_put(&nodes, table);
	node_put(&nodes, row);
	node_put(&nodes, other);
	ck_assert_uint_eq(nodes.memory, 0);
}
END_TEST

START_TEST(kind_parent_and_name_tell_nodes_apart)
{
	struct node *t = enter(nodes.root, NODE_TABLE, "t");
	struct node *row = enter(t, NODE_ROW, ".schema");
	struct node *schema = enter(t, NODE_SCHEMA, ".schema");

	ck_assert_ptr_ne(row, schema);
	ck_assert_ptr_null(find(nodes.root, NODE_ROW, ".schema"));
	ck_assert_ptr_null(find(t, NODE_ROW, ".schem"));
	ck_assert(node_ino(&nodes, row) != node_ino(&nodes, schema));
	node_put(&nodes, t);
	node_put(&nodes, row);
	node_put(&nodes, schema);
}
END_TEST

START_TEST(many_nodes_are_all_found)
{
	enum { COUNT = 20000 };
	static struct node *all[COUNT];
	char name[16];
	int i;

	for (i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		all[i] = enter(nodes.root, NODE_TABLE, name);
	}
	for (i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		ck_assert_ptr_eq(find(nodes.root, NODE_TABLE, name), all[i]);
		node_put(&nodes, all[i]);
	}
	ck_assert_uint_eq(nodes.count, 0);
}
END_TEST

START_TEST(a_path_follows_renames)
{
	struct node *t = enter(nodes.root, NODE_TABLE, "t");
	struct node *r = enter(t, NODE_ROW, "r");
	struct node *f = enter(r, NODE_FAMILY, "f");
	struct node *q = enter(f, NODE_CELL, "q");
	struct node *other = enter(t, NODE_ROW, "s");
	uint64_t ino = node_ino(&nodes, q);
	struct buf text = BUF_INIT;
	struct path path;

	rename_to(r, "s");
	ck_assert_int_eq(node_path(&nodes, q, &path), 0);
	ck_assert(bytes_equal(path.table, bytes_string("t")));
	ck_assert(bytes_equal(path.row, bytes_string("s")));
	ck_assert(bytes_equal(path.family, bytes_string("f")));
	ck_assert(bytes_equal(path.qualifier, bytes_string("q")));
	ck_assert(bytes_equal(path.leaf, bytes_string("q")));
	path_release(&path);
	ck_assert(node_ino(&nodes, q) != ino);
	ck_assert_ptr_null(find(t, NODE_ROW, "r"));
	ck_assert_ptr_eq(find(t, NODE_ROW, "s"), r);
	ck_assert(!other->found);
	ck_assert_int_eq(node_print_path(&nodes, q, &text), 0);
	ck_assert(bytes_equal(buf_bytes(&text), bytes_string("/t/s/f/q")));
	buf_release(&text);
	node_put(&nodes, other);
	node_put(&nodes, q);
	node_put(&nodes, f);
	node_put(&nodes, r);
	node_put(&nodes, t);
	ck_assert_uint_eq(nodes.count, 0);
}
END_TEST

START_TEST(a_long_path_is_whole)
{
	static char key[4097];
	struct node *t = enter(nodes.root, NODE_TABLE, "t"), *r;
	struct path path;

	memset(key, 'k', 4096);
	r = enter(t, NODE_ROW, key);
	ck_assert_int_eq(node_path(&nodes, r, &path), 0);
	ck_assert_uint_eq(path.row.size, 4096);
	ck_assert(bytes_equal(path.row, bytes_string(key)));
	path_release(&path);
	node_put(&nodes, r);
	node_put(&nodes, t);
}
END_TEST

START_TEST(local_nodes_are_listed_in_order_until_they_end)
{
	static const char *const names[] = { "m", "a", "z", "ab" };
	struct node *t = enter(nodes.root, NODE_TABLE, "t");
	struct names locals = { .names = NULL };
	bool more;
	size_t i;

	for (i = 0; i < 4; i++) {
		struct node *n = enter(t, NODE_ROW, names[i]);

		node_set_local(&nodes, n, true);
		node_set_local(&nodes, n, true);
		node_put(&nodes, n);
	}
	ck_assert_int_eq(
		node_add_locals(&nodes, t, BYTES_NONE, 100, &locals, &more), 0);
	ck_assert(!more);
	names_sort(&locals);
	ck_assert_uint_eq(locals.count, 4);
	ck_assert(bytes_equal(locals.names[0], bytes_string("a")));
	ck_assert(bytes_equal(locals.names[1], bytes_string("ab")));
	ck_assert(bytes_equal(locals.names[3], bytes_string("z")));
	names_release(&locals);
	node_detach(&nodes, find(t, NODE_ROW, "m"));
	ck_assert_ptr_null(find(t, NODE_ROW, "m"));
	ck_assert(node_has_locals(&nodes, t));
	/* Detaching the table ends what is only local in it. */
	node_detach(&nodes, t);
	ck_assert(!node_has_locals(&nodes, t));
	node_put(&nodes, t);
	ck_assert_uint_eq(nodes.count, 0);
}
END_TEST

START_TEST(a_commit_makes_the_cell_and_its_directories_real)
{
	struct node *t = enter(nodes.root, NODE_TABLE, "t");
	struct node *r = enter(t, NODE_ROW, "r");
	struct node *f = enter(r, NODE_FAMILY, "f");
	struct node *q = enter(f, NODE_CELL, "q");

	node_set_local(&nodes, r, true);
	node_set_local(&nodes, f, true);
	node_set_local(&nodes, q, true);
	node_committed(&nodes, q, 1000, 7);
	ck_assert(!r->local && !f->local && !q->local);
	ck_assert_uint_eq(r->timestamp_us, 1000);
	ck_assert_uint_eq(node_seq(&nodes, f), 7);
	/* What was read before the commit is old. */
	node_know(&nodes, q, 500, 6);
	ck_assert_uint_eq(q->timestamp_us, 1000);
	ck_assert_uint_eq(node_seq(&nodes, q), 7);
	node_know(&nodes, q, 500, 8);
	ck_assert_uint_eq(q->timestamp_us, 500);
	node_know(&nodes, r, 500, 8);
	ck_assert_uint_eq(r->timestamp_us, 1000);
	node_put(&nodes, q);
	node_put(&nodes, f);
	node_put(&nodes, r);
	node_put(&nodes, t);
	ck_assert_uint_eq(nodes.count, 0);
}
END_TEST

/* Also if the row's cells go, which are in another family. */
START_TEST(a_row_stays_while_something_in_it_is_local)
{
	struct node *t = enter(nodes.root, NODE_TABLE, "t");
	struct node *r = enter(t, NODE_ROW, "r");
	struct node *f = enter(r, NODE_FAMILY, "f");
	struct node *g = enter(r, NODE_FAMILY, "g");
	struct node *q = enter(g, NODE_CELL, "q");

	node_set_local(&nodes, f, true);
	ck_assert(r->local && node_has_locals(&nodes, t));
	node_set_local(&nodes, q, true);
	ck_assert(g->local);
	node_committed(&nodes, q, 1000, 7);
	ck_assert(!g->local && f->local && r->local);
	node_detach(&nodes, f);
	ck_assert(!f->local && !r->local && !node_has_locals(&nodes, t));
	/* What cannot be found any more does not come back by what is in it. */
	node_detach(&nodes, r);
	node_set_local(&nodes, g, true);
	ck_assert(!node_has_locals(&nodes, t));
	node_set_local(&nodes, g, false);
	node_put(&nodes, q);
	node_put(&nodes, g);
	node_put(&nodes, f);
	node_put(&nodes, r);
	node_put(&nodes, t);
	ck_assert_uint_eq(nodes.count, 0);
}
END_TEST

/* Seconds of this thread to end count local nodes in the order of making. */
START_TEST(local_names_come_in_pieces)
{
	enum { COUNT = 1000 };
	struct node *t = enter(nodes.root, NODE_TABLE, "t");
	struct buf from = BUF_INIT;
	char name[16];
	bool more = true;
	size_t i, listed = 0;

	for (i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "r%03zu", i * 389 % COUNT);
		make(t, NODE_ROW, name, 1);
	}
	while (more) {
		struct names piece = { .names = NULL };

		ck_assert_int_eq(node_add_locals(&nodes, t, buf_bytes(&from),
						 100, &piece, &more),
				 0);
		names_sort(&piece);
		ck_assert_uint_le(piece.memory.size, 104);
		for (i = 0; i < piece.count; i++) {
			snprintf(name, sizeof(name), "r%03zu", listed++);
			ck_assert(bytes_equal(piece.names[i],
					      bytes_string(name)));
		}
		ck_assert_int_eq(buf_set(&from, piece.names[i - 1]), 0);
		ck_assert_int_eq(buf_add_byte(&from, 0), 0);
		names_release(&piece);
	}
	ck_assert_uint_eq(listed, COUNT);
	buf_release(&from);
	node_detach(&nodes, t);
	node_put(&nodes, t);
}
END_TEST

/* As many directories as uid may make, with long names. */
static int make_all(struct node *t, uid_t uid)
{
	char name[4000];
	int count = 0, err;

	memset(name, 'n', sizeof(name));
	do {
		snprintf(name, 20, "%u-%d", uid, count);
		name[strlen(name)] = 'n';
		name[sizeof(name) - 1] = '\0';
		err = make(t, NODE_ROW, name, uid);
		count += !err;
	} while (!err);
	ck_assert_int_eq(err, -ENOSPC);
	return count;
}

START_TEST(local_directories_have_a_bound)
{
	struct node *t = enter(nodes.root, NODE_TABLE, "t"), *r, *f, *q;
	size_t one;

	make(t, NODE_ROW, "r", 3);
	r = enter(t, NODE_ROW, "r");
	one = nodes.local[0].memory;
	/* A row in which one is local is local, too, and counted. */
	make(r, NODE_FAMILY, "f", 3);
	f = enter(r, NODE_FAMILY, "f");
	ck_assert_uint_eq(nodes.local[0].memory, 2 * one);
	make(f, NODE_CELL, "q", 3);
	q = enter(f, NODE_CELL, "q");
	ck_assert_uint_eq(nodes.local[0].count, 2);
	rename_to(r, "another");
	ck_assert_uint_eq(nodes.local[0].memory,
			  2 * one + strlen("another") - 1);
	/* One user leaves something to others. */
	ck_assert_int_gt(make_all(t, 1), 3000);
	ck_assert_uint_lt(nodes.local[0].memory, NODES_USER_MADE_MAX + 10000);
	ck_assert_ptr_nonnull(strstr(err_detail(), "user 1 has "));
	ck_assert_int_gt(make_all(t, 2), 1500);
	ck_assert_uint_lt(nodes.local[0].memory, NODES_MADE_MAX + 10000);
	ck_assert_int_eq(make(t, NODE_ROW, "s", 3), -ENOSPC);
	/* What is local may be made again, and a cell is not refused. */
	ck_assert_int_eq(make(t, NODE_ROW, "another", 3), 0);
	ck_assert_int_eq(make(f, NODE_CELL, "p", 3), 0);
	node_detach(&nodes, find(f, NODE_CELL, "p"));
	/* Directories with a cell do not count. */
	node_committed(&nodes, q, 1, 1);
	ck_assert(!r->local && !f->local);
	node_put(&nodes, q);
	node_put(&nodes, f);
	node_put(&nodes, r);
	node_detach(&nodes, t);
	ck_assert_uint_eq(nodes.local[0].count + nodes.local[0].memory, 0);
	node_put(&nodes, t);
}
END_TEST

/* Who removes cells and leaves directories may go on for ever, and make more;
 * what stayed just now is there for rm -r. */
START_TEST(kept_directories_have_a_bound)
{
	struct node *t = enter(nodes.root, NODE_TABLE, "t");
	struct node *r, *f;
	size_t before = nodes.memory;
	char name[4000];
	int i;
	bool all_stay;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < 5000; i++) {
		snprintf(name, 20, "%d", i);
		name[strlen(name)] = 'n';
		r = enter(t, NODE_ROW, name);
		f = enter(r, NODE_FAMILY, "f");
		all_stay = node_keep(&nodes, f, 1);
		ck_assert(node_keep(&nodes, r, 1));
		ck_assert(f->local && r->made);
		node_put(&nodes, f);
		ck_assert(all_stay ==
			  (nodes.local[1].memory < NODES_USER_KEPT_MAX ||
			   nodes.local[1].count == 2 * (size_t)i + 2));
		node_put(&nodes, r);
	}
	ck_assert_uint_lt(nodes.local[1].memory, NODES_USER_KEPT_MAX + 10000);
	ck_assert_uint_eq(nodes.local[1].memory, nodes.memory - before);
	ck_assert_uint_eq(nodes.local[0].count, 0);
	ck_assert_int_eq(make(t, NODE_ROW, "r", 1), 0);
	node_detach(&nodes, t);
	node_put(&nodes, t);
}
END_TEST

static double end_locals(int count)
{
	struct node *t = enter(nodes.root, NODE_TABLE, "t"), *row;
	struct timespec start, end;
	char name[16];
	int i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		row = enter(t, NODE_ROW, name);
		node_set_local(&nodes, row, true);
		node_put(&nodes, row);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		row = node_find(&nodes, t, NODE_ROW, bytes_string(name));
		node_detach(&nodes, row);
		node_put(&nodes, row);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	node_put(&nodes, t);
	ck_assert_uint_eq(nodes.count, 0);
	return (double)(end.tv_sec - start.tv_sec) +
	       (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

/* Ten times as many take ten times as long, and not a hundred times. */
START_TEST(local_nodes_end_in_time_that_does_not_grow)
{
	double few = end_locals(5000), many = end_locals(50000);

	ck_assert_msg(many < 40 * few, "%g s, then %g s", few, many);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_node_lives_as_long_as_it_is_referred_to,
		memory_is_that_of_all_nodes,
		kind_parent_and_name_tell_nodes_apart,
		many_nodes_are_all_found,
		a_path_follows_renames,
		a_long_path_is_whole,
		local_nodes_are_listed_in_order_until_they_end,
		a_commit_makes_the_cell_and_its_directories_real,
		a_row_stays_while_something_in_it_is_local,
		local_names_come_in_pieces,
		local_directories_have_a_bound,
		kept_directories_have_a_bound,
		local_nodes_end_in_time_that_does_not_grow,
	};

	return run_suite("node", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
