#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/read/cursor.h"
#include "store/model/look.h"
#include "store/model/schema.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/*
 * What is put into a table while it is looked through, before its schema
 * changes: commits are made between the look and the change, by the thread that
 * does both, so they cannot have waited for the look.
 */
#define TABLE BYTES_LITERAL("t")

static struct volume *volume;
static struct store *store;
static struct look look;

static void set_up(void)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	struct family_spec families[] = {
		{ .name = BYTES_LITERAL("f"), .gc = one },
		{ .name = BYTES_LITERAL("g") },
	};
	struct store_options options;

	small_store_options(&options);
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
	ck_assert_int_eq(store_create_table(store, TABLE, false, families, 2),
			 0);
	ck_assert_int_eq(store_create_table(store, BYTES_LITERAL("u"), false,
					    families, 2),
			 0);
	gc_policy_free(one);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

static void put(const char *table, const char *row, const char *family,
		uint64_t timestamp)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string(table), bytes_string(row)),
			 0);
	ck_assert_int_eq(write_set(w, bytes_string(family), BYTES_LITERAL("q"),
				   timestamp, BYTES_LITERAL("v")),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

/* Of family f, or of all. */
static bool holds(bool of_all)
{
	struct schema *schema = store_schema(store);
	const struct table *t = schema_table(schema, TABLE);
	bool result;

	pthread_mutex_lock(&store->writing);
	result = look_holds(
		&look, t->id,
		of_all ? 0 : table_family(t, BYTES_LITERAL("f"))->birth_seq);
	pthread_mutex_unlock(&store->writing);
	schema_put(schema);
	return result;
}

START_TEST(puts_into_the_family_count)
{
	ck_assert_int_eq(
		look_empty_family(&look, store, TABLE, BYTES_LITERAL("f")), 0);
	ck_assert(holds(false));
	put("t", "r", "g", 1000);
	put("u", "r", "f", 1000);
	ck_assert(holds(false));
	put("t", "r", "f", 1000);
	ck_assert(!holds(false));
	look_end(&look);
	ck_assert_int_eq(
		look_empty_family(&look, store, TABLE, BYTES_LITERAL("f")),
		-ERR_family_not_empty);
	look_end(&look);
	ck_assert_int_eq(
		store_set_type(store, TABLE, BYTES_LITERAL("f"), FAMILY_INTSUM),
		-ERR_family_not_empty);
}
END_TEST

START_TEST(times_within_a_millisecond_count)
{
	ck_assert_int_eq(look_of_micros(&look, store, TABLE), 0);
	put("t", "r", "f", 2000);
	put("u", "r", "f", 2001);
	ck_assert(holds(true));
	put("t", "r", "g", 2001);
	ck_assert(!holds(true));
	look_end(&look);
	ck_assert_int_eq(store_set_granularity(store, TABLE, true),
			 -ERR_bad_timestamp);
}
END_TEST

/* Hidden versions that are there still. */
static unsigned int count_hidden(void)
{
	struct cursor *cursor;
	unsigned int count = 0;
	struct cell cell;

	ck_assert_int_eq(cursor_open(store_engine(store), NULL, BYTES_NONE,
				     BYTES_NONE, BYTES_NONE, &cursor),
			 0);
	cursor_show_hidden(cursor);
	while (cursor_next(cursor, CURSOR_VERSION, &cell) == 1)
		count++;
	cursor_close(cursor);
	return count;
}

START_TEST(what_is_hidden_meanwhile_is_buried)
{
	struct gc_policy *two = gc_policy_leaf(GC_MAX_VERSIONS, 2);
	unsigned int i;
	char row[20];

	for (i = 0; i < 500; i++) {
		snprintf(row, sizeof(row), "r%03u", i);
		put("t", row, "f", 1000);
		put("t", row, "f", 2000);
		put("t", row, "g", 1000);
	}
	ck_assert_uint_eq(count_hidden(), 500);
	ck_assert_int_eq(
		look_bury(&look, store, TABLE, BYTES_LITERAL("f"), two), 0);
	ck_assert_uint_eq(count_hidden(), 0);
	put("t", "r007", "f", 3000);
	put("t", "r008", "g", 3000);
	ck_assert_uint_eq(count_hidden(), 1);
	ck_assert(holds(false));
	pthread_mutex_lock(&store->writing);
	ck_assert_int_eq(look_bury_rest(&look), 0);
	pthread_mutex_unlock(&store->writing);
	ck_assert_uint_eq(count_hidden(), 0);
	look_end(&look);
	gc_policy_free(two);
}
END_TEST

/* Of what is not there, or stays as it is, nothing is noted. */
START_TEST(there_may_be_nothing_to_look_at)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);

	ck_assert_int_eq(
		look_bury(&look, store, TABLE, BYTES_LITERAL("f"), one), 0);
	ck_assert(!holds(false));
	look_end(&look);
	ck_assert_int_eq(
		look_bury(&look, store, TABLE, BYTES_LITERAL("no"), one), 0);
	ck_assert(!store->look);
	look_end(&look);
	gc_policy_free(one);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		puts_into_the_family_count,
		times_within_a_millisecond_count,
		what_is_hidden_meanwhile_is_buried,
		there_may_be_nothing_to_look_at,
	};

	return run_suite("look", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
