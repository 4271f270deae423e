#include <stdio.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* Attributes of tables and of the store: what a change does, what outlives
 * what, and what is refused. */
#define NAME(s) BYTES_LITERAL(s)

static struct store *s;
static struct volume *volume;

static void open_store(void)
{
	struct store_options options;

	store_options_init(&options);
	options.create = true;
	options.background = false;
	ck_assert_int_eq(store_open_volume(volume, &options, &s), 0);
}

static void setup(void)
{
	const struct family_spec family = { .name = NAME("f") };

	ck_assert_int_eq(volume_mem_new(&volume), 0);
	open_store();
	ck_assert_int_eq(store_create_table(s, NAME("t"), false, &family, 1),
			 0);
	ck_assert_int_eq(store_create_table(s, NAME("u"), false, &family, 1),
			 0);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

/* As after kill -9. */
static void reopen(void)
{
	struct volume *killed;

	ck_assert_int_eq(volume_mem_kill_clone(volume, &killed), 0);
	ck_assert_int_eq(store_close(s), 0);
	volume = killed;
	open_store();
}

/* "name=value " of each. */
static void are(const char *table, const char *want)
{
	struct schema *schema = store_schema(s);
	const struct attributes *a =
		schema_attributes(schema, bytes_string(table));
	struct buf text = BUF_INIT;
	size_t i;

	ck_assert_ptr_nonnull(a);
	for (i = 0; i < a->count; i++) {
		const struct attribute *x = &a->items[i];

		buf_printf(&text, "%.*s=%.*s ", (int)x->name.size, x->name.data,
			   (int)x->value.size, x->value.data);
	}
	buf_terminate(&text);
	ck_assert_str_eq((const char *)text.data, want);
	buf_release(&text);
	schema_put(schema);
}

static int set(const char *table, const char *name, const char *value)
{
	return store_set_attribute(s, bytes_string(table), bytes_string(name),
				   value ? bytes_string(value) : BYTES_NONE);
}

START_TEST(set_and_removed)
{
	struct schema *schema;
	struct bytes value;

	are("t", "");
	ck_assert_int_eq(set("t", "b", "2"), 0);
	ck_assert_int_eq(set("t", "a", "1"), 0);
	ck_assert_int_eq(set("t", "c", ""), 0);
	ck_assert_int_eq(set("t", "b", "two"), 0);
	are("t", "a=1 b=two c= ");
	are("u", "");
	are("", "");
	reopen();
	are("t", "a=1 b=two c= ");
	schema = store_schema(s);
	ck_assert(schema_attribute(schema, NAME("t"), NAME("b"), &value));
	/* What is read stays while the schema does. */
	ck_assert_int_eq(set("t", "b", NULL), 0);
	ck_assert(bytes_equal(value, NAME("two")));
	schema_put(schema);
	ck_assert_int_eq(set("t", "b", NULL), 0);
	are("t", "a=1 c= ");
	ck_assert_int_eq(set("t", "a", NULL), 0);
	ck_assert_int_eq(set("t", "c", NULL), 0);
	reopen();
	are("t", "");
	ck_assert_int_eq(set("none", "a", "1"), -ERR_no_table);
	schema = store_schema(s);
	ck_assert_ptr_null(schema_attributes(schema, NAME("none")));
	ck_assert(!schema_attribute(schema, NAME("none"), NAME("a"), NULL));
	schema_put(schema);
}
END_TEST

START_TEST(of_the_store)
{
	const struct attribute changes[] = { { NAME("x"), NAME("1") },
					     { NAME("z"), NAME("3") },
					     { NAME("y"), NAME("2") },
					     { NAME("z"), BYTES_NONE },
					     { NAME("no"), BYTES_NONE } };

	ck_assert_int_eq(set("", "w", "0"), 0);
	ck_assert_int_eq(store_set_attributes(s, BYTES_NONE, changes, 5), 0);
	are("", "w=0 x=1 y=2 ");
	reopen();
	are("", "w=0 x=1 y=2 ");
	/* Compaction keeps them, by rules of their own. */
	ck_assert_int_eq(set("", "x", NULL), 0);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	reopen();
	are("", "w=0 y=2 ");
	are("t", "");
}
END_TEST

/* One write: the first change that is wrong leaves all as it was. */
START_TEST(all_or_none)
{
	const struct attribute changes[] = { { NAME("b"), NAME("2") },
					     { NAME("a"), BYTES_NONE },
					     { NAME("c d"), NAME("3") } };

	ck_assert_int_eq(set("t", "a", "1"), 0);
	ck_assert_int_eq(set("", "a", "1"), 0);
	ck_assert_int_eq(store_set_attributes(s, NAME("t"), changes, 3),
			 -ERR_bad_name);
	ck_assert_int_eq(store_set_attributes(s, BYTES_NONE, changes, 3),
			 -ERR_bad_name);
	are("t", "a=1 ");
	are("", "a=1 ");
	ck_assert_int_eq(store_set_attributes(s, NAME("t"), changes, 2), 0);
	ck_assert_int_eq(store_set_attributes(s, NAME("t"), NULL, 0), 0);
	are("t", "b=2 ");
}
END_TEST

/* A table's go with it, and others' changes leave them alone. */
START_TEST(go_with_the_table)
{
	const struct family_spec family = { .name = NAME("g") };
	const struct table_access access = { 0700, 1, 2 };

	ck_assert_int_eq(set("t", "a", "1"), 0);
	ck_assert_int_eq(set("", "a", "store"), 0);
	ck_assert_int_eq(store_create_family(s, NAME("t"), &family), 0);
	ck_assert_int_eq(store_set_access(s, NAME("t"), &access), 0);
	ck_assert_int_eq(store_rename_table(s, NAME("t"), NAME("new")), 0);
	are("new", "a=1 ");
	reopen();
	are("new", "a=1 ");
	ck_assert_int_eq(store_drop_table(s, NAME("new"), false), 0);
	ck_assert_int_eq(store_create_table(s, NAME("new"), false, NULL, 0), 0);
	are("new", "");
	are("", "a=store ");
}
END_TEST

START_TEST(made_with_the_table)
{
	const struct family_spec family = { .name = NAME("f") };
	const struct table_access access = { 0700, TABLE_ACCESS_UNSET, 2 };
	struct attribute attributes[] = { { NAME("b"), NAME("2") },
					  { NAME("a"), NAME("1") } };
	const struct table_spec spec = { .name = NAME("m"),
					 .millis = true,
					 .access = &access,
					 .families = &family,
					 .family_count = 1,
					 .attributes = attributes,
					 .attribute_count = 2 };
	struct schema *schema;

	ck_assert_int_eq(store_make_table(s, &spec), 0);
	ck_assert_int_eq(store_make_table(s, &spec), -ERR_table_exists);
	reopen();
	are("m", "a=1 b=2 ");
	ck_assert_int_eq(store_drop_table(s, NAME("m"), false), 0);
	attributes[1].name = NAME("");
	ck_assert_int_eq(store_make_table(s, &spec), -ERR_bad_name);
	schema = store_schema(s);
	ck_assert_ptr_null(schema_table(schema, NAME("m")));
	schema_put(schema);
}
END_TEST

static char large[STORE_ATTRIBUTE_VALUE_MAX + 1];

/* Sets a value of so many bytes. */
static int set_large(const char *table, unsigned int i, size_t size)
{
	char name[16];

	snprintf(name, sizeof(name), "large%02u", i);
	return store_set_attribute(s, bytes_string(table), bytes_string(name),
				   bytes_of(large, size));
}

START_TEST(limits_of_one)
{
	char name[STORE_ATTRIBUTE_NAME_MAX + 2];

	memset(name, '~', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(set("t", name, "1"), -ERR_name_too_long);
	name[sizeof(name) - 2] = '\0';
	ck_assert_int_eq(set("t", name, "1"), 0);
	ck_assert_int_eq(set("t", "", "1"), -ERR_bad_name);
	ck_assert_int_eq(set("t", "a\n", "1"), -ERR_bad_name);
	ck_assert_int_eq(set("t", "\x7f", "1"), -ERR_bad_name);
	ck_assert_int_eq(set("t", "\xc3\xa9", "1"), -ERR_bad_name);
	ck_assert_int_eq(set_large("t", 1, sizeof(large)),
			 -ERR_attribute_too_large);
	ck_assert_int_eq(set_large("t", 1, sizeof(large) - 1), 0);
	reopen();
	ck_assert_int_eq(set("t", name, NULL), 0);
}
END_TEST

/* A table is full, a record is as large as one gets, and with some such tables
 * all of the store is full. */
START_TEST(limits_of_all)
{
	const char *const tables[] = { "t", "u", "", "v", "w" };
	unsigned int i, j;
	int err;

	memset(large, 'x', sizeof(large));
	ck_assert_int_eq(store_create_table(s, NAME("v"), false, NULL, 0), 0);
	ck_assert_int_eq(store_create_table(s, NAME("w"), false, NULL, 0), 0);
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 15; j++)
			ck_assert_int_eq(set_large(tables[i], j, 65536), 0);
		ck_assert_int_eq(set_large(tables[i], j, 65536),
				 -ERR_attributes_full);
		/* To the last byte: names of 7 bytes. */
		ck_assert_int_eq(set_large(tables[i], j, 65536 - 16 * 39), 0);
		ck_assert_int_eq(set_large(tables[i], j, 65536 - 16 * 39 + 1),
				 -ERR_attributes_full);
	}
	ck_assert_int_eq(set(tables[4], "a", ""), -ERR_attributes_full);
	ck_assert_str_ne(err_detail(), "");
	reopen();
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	ck_assert_int_eq(set(tables[4], "a", ""), -ERR_attributes_full);
	/* What is full may be changed to as much, and shrink. */
	ck_assert_int_eq(set_large("t", 3, 65536), 0);
	ck_assert_int_eq(set_large("t", 3, 9), 0);
	err = set(tables[4], "a", "");
	ck_assert_msg(err == 0, "%s", err_detail());
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		set_and_removed,   of_the_store,        all_or_none,
		go_with_the_table, made_with_the_table, limits_of_one,
		limits_of_all,
	};

	return run_suite("attributes", setup, teardown, tests,
			 sizeof(tests) / sizeof(tests[0]));
}
