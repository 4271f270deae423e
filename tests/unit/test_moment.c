#include "store/engine/core/state.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/unit/mem_store.h"

/*
 * What a snapshot sees of tables and families that are dropped after it, and
 * whose data goes when: not before nobody can look at it, and then at once. And
 * what of policies it does not hold up.
 */

static struct store *store;

static void set_up(void)
{
	struct family_spec families[] = { { .name = BYTES_LITERAL("f") },
					  { .name = BYTES_LITERAL("g") } };

	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);

	families[0].gc = one;
	store = mem_store(NULL);
	ck_assert_int_eq(store_create_table(store, bytes_string("t"), false,
					    families, 2),
			 0);
	gc_policy_free(one);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

static void put(const char *table, const char *family, uint64_t time)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string(table), bytes_string("row")),
			 0);
	ck_assert_int_eq(write_set(w, bytes_string(family), bytes_string("q"),
				   time, bytes_string("v")),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

/* How many cells there are to be seen, or an error. */
static int seen(const struct snapshot *snapshot, const char *table)
{
	struct scan_range all = { .table = bytes_string(table) };
	struct scan *scan;
	struct cell cell;
	int count = 0, err = scan_open(store, snapshot, &all, &scan);

	if (err < 0)
		return err;
	while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
		count++;
	scan_close(scan);
	return err < 0 ? err : count;
}

/* Puts of all tables in files, when all is merged. */
static uint64_t stored(void)
{
	uint64_t count = 0;
	struct version *v;
	unsigned int i;
	size_t j;

	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	v = engine_version(store_engine(store));
	for (i = 0; i < LEVEL_COUNT; i++)
		for (j = 0; j < v->levels[i].count; j++)
			count += sst_properties(v->levels[i].files[j]->sst)
					 ->put_count;
	version_put(v);
	return count;
}

START_TEST(a_dropped_family_is_seen_by_its_moment)
{
	struct family_spec again = { .name = BYTES_LITERAL("g") };
	struct snapshot *before, *after;
	struct schema *schema;
	uint64_t least;

	put("t", "f", 1000);
	least = stored();
	put("t", "g", 1000);
	ck_assert_int_eq(store_snapshot(store, &before), 0);
	ck_assert_int_eq(
		store_drop_family(store, bytes_string("t"), bytes_string("g")),
		0);
	ck_assert_uint_eq(stored(), least + 1 + 1); /* and the former record */
	ck_assert_int_eq(seen(before, "t"), 2);
	ck_assert_int_eq(seen(NULL, "t"), 1);
	schema = store_schema_at(store, before);
	ck_assert_uint_eq(schema_table(schema, bytes_string("t"))->family_count,
			  2);
	schema_put(schema);
	/* One of the same name has nothing of it, at whatever moment. */
	ck_assert_int_eq(store_create_family(store, bytes_string("t"), &again),
			 0);
	ck_assert_int_eq(seen(NULL, "t"), 1);
	put("t", "g", 2000);
	ck_assert_int_eq(store_snapshot(store, &after), 0);
	stored();
	ck_assert_int_eq(seen(before, "t"), 2);
	ck_assert_int_eq(seen(after, "t"), 2);
	store_snapshot_release(store, before);
	ck_assert_uint_eq(stored(), least + 1);
	ck_assert_int_eq(seen(after, "t"), 2);
	store_snapshot_release(store, after);
}
END_TEST

START_TEST(a_dropped_table_is_seen_by_its_moment)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct snapshot *before;
	uint64_t least;

	put("t", "f", 1000);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	least = stored() - 2;
	ck_assert_int_eq(store_snapshot(store, &before), 0);
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	stored();
	ck_assert_int_eq(seen(before, "t"), 1);
	ck_assert_int_eq(seen(NULL, "t"), -ERR_no_table);
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
	ck_assert_int_eq(seen(NULL, "t"), 0);
	ck_assert_int_eq(seen(before, "t"), 1);
	store_snapshot_release(store, before);
	ck_assert_uint_eq(stored(), least + 1);
}
END_TEST

/* A renamed table is found by the name that it has, and by the one it had. */
START_TEST(a_table_has_the_name_of_the_moment)
{
	struct snapshot *before;

	put("t", "f", 1000);
	ck_assert_int_eq(store_snapshot(store, &before), 0);
	ck_assert_int_eq(
		store_rename_table(store, bytes_string("t"), bytes_string("u")),
		0);
	ck_assert_int_eq(seen(before, "t"), 1);
	ck_assert_int_eq(seen(before, "u"), 1);
	ck_assert_int_eq(seen(NULL, "t"), -ERR_no_table);
	store_snapshot_release(store, before);
}
END_TEST

/* Of two that change names while they are read, each is what it is now called:
 * as in a table that is made anew beside the one in use, and takes its
 * place. */
START_TEST(tables_that_change_names)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };
	struct snapshot *before;

	ck_assert_int_eq(store_create_table(store, bytes_string("new"), false,
					    &family, 1),
			 0);
	put("t", "f", 1000);
	put("t", "g", 1000);
	put("new", "f", 1000);
	ck_assert_int_eq(store_snapshot(store, &before), 0);
	ck_assert_int_eq(store_rename_table(store, bytes_string("t"),
					    bytes_string("old")),
			 0);
	ck_assert_int_eq(store_rename_table(store, bytes_string("new"),
					    bytes_string("t")),
			 0);
	ck_assert_int_eq(seen(before, "old"), 2);
	ck_assert_int_eq(seen(before, "t"), 1);
	ck_assert_int_eq(seen(before, "new"), 1);
	store_snapshot_release(store, before);
}
END_TEST

/* What is changed of a table besides its policies does not keep merges from
 * going by them, whoever looks at a moment before. */
START_TEST(only_policies_hold_up_policies)
{
	const struct table_access access = { 0700, 1, 1 };
	struct family_spec other = { .name = BYTES_LITERAL("h") };
	struct snapshot *before;
	uint64_t all;

	put("t", "f", 1000);
	put("t", "f", 2000);
	ck_assert_int_eq(store_snapshot(store, &before), 0);
	ck_assert_int_eq(store_set_access(store, bytes_string("t"), &access),
			 0);
	ck_assert_int_eq(store_create_family(store, bytes_string("t"), &other),
			 0);
	all = stored();
	ck_assert_int_eq(seen(before, "t"), 1);
	store_snapshot_release(store, before);
	/* But for the records that were of the moment. */
	ck_assert_uint_eq(all - stored(), 1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_dropped_family_is_seen_by_its_moment,
		a_dropped_table_is_seen_by_its_moment,
		a_table_has_the_name_of_the_moment,
		tables_that_change_names,
		only_policies_hold_up_policies,
	};

	return run_suite("moment", set_up, tear_down, tests, 5);
}
