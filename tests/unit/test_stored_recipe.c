#include "store/text/track/stored_recipe.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Recipes that are stored with a table: what is taken, found, moved. */
#define NAME(s) BYTES_LITERAL(s)
#define GOOD "key {a}\nset f:b {b}\n"

static struct store *s;

static void setup(void)
{
	s = mem_store(NULL);
	ck_assert_int_eq(store_create_table(s, NAME("t"), false, NULL, 0), 0);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

static int set(const char *name, const char *text, uint64_t us)
{
	return stored_recipe_set(s, NAME("t"), bytes_string(name),
				 bytes_string(text), us);
}

/* "name@time " of each. */
static void are(const char *want)
{
	struct schema *schema = store_schema(s);
	const struct table *t = schema_table(schema, NAME("t"));
	struct buf text = BUF_INIT;
	struct stored_recipe r;
	size_t i = 0;

	while (stored_recipe_next(t, &i, &r))
		buf_printf(&text, "%.*s@%llu ", (int)r.name.size, r.name.data,
			   (unsigned long long)r.stored_us);
	buf_terminate(&text);
	ck_assert_str_eq((const char *)text.data, want);
	buf_release(&text);
	schema_put(schema);
}

START_TEST(set_found_moved_removed)
{
	struct stored_recipe r;
	struct schema *schema;

	ck_assert_int_eq(set("b", GOOD, 7), 0);
	ck_assert_int_eq(set("a", GOOD "# more\n", 8), 0);
	are("a@8 b@7 ");
	ck_assert_int_eq(stored_recipe_stamp(s, NAME("t"), NAME("b"), 5), 0);
	ck_assert_int_eq(
		stored_recipe_rename(s, NAME("t"), NAME("b"), NAME("c")), 0);
	are("a@8 c@5 ");
	/* In place of another. */
	ck_assert_int_eq(
		stored_recipe_rename(s, NAME("t"), NAME("a"), NAME("c")), 0);
	ck_assert_int_eq(
		stored_recipe_rename(s, NAME("t"), NAME("c"), NAME("c")), 0);
	are("c@8 ");
	schema = store_schema(s);
	ck_assert(stored_recipe_find(schema_table(schema, NAME("t")), NAME("c"),
				     &r));
	ck_assert(bytes_equal(r.text, NAME(GOOD "# more\n")));
	/* It goes by its two attributes, and no third. */
	ck_assert_uint_eq(schema_attributes(schema, NAME("t"))->count, 2);
	schema_put(schema);
	ck_assert_int_eq(stored_recipe_remove(s, NAME("t"), NAME("c")), 0);
	are("");
	schema = store_schema(s);
	ck_assert_uint_eq(schema_attributes(schema, NAME("t"))->count, 0);
	schema_put(schema);
}
END_TEST

START_TEST(refused)
{
	struct recipe *r;

	ck_assert_int_eq(set("a", GOOD, 1), 0);
	ck_assert_int_eq(set("a", GOOD "set f:c {c|no}\n", 2),
			 -ERR_bad_argument);
	ck_assert_ptr_nonnull(strstr(err_detail(), "a:3:12: "));
	ck_assert_int_eq(set("a", "set f:b {b}\n", 2), -ERR_bad_argument);
	ck_assert_int_eq(set("a", "", 2), -ERR_bad_argument);
	ck_assert_int_eq(set(".a", GOOD, 2), -ERR_bad_name);
	ck_assert_int_eq(set("a/b", GOOD, 2), -ERR_bad_name);
	are("a@1 ");
	ck_assert_int_eq(stored_recipe_remove(s, NAME("t"), NAME("b")),
			 -ERR_no_recipe);
	ck_assert_int_eq(stored_recipe_remove(s, NAME("u"), NAME("a")),
			 -ERR_no_table);
	ck_assert_int_eq(
		stored_recipe_rename(s, NAME("t"), NAME("a"), NAME("b c")),
		-ERR_bad_name);
	ck_assert_int_eq(
		stored_recipe_rename(s, NAME("t"), NAME("b"), NAME("c")),
		-ERR_no_recipe);
	ck_assert_int_eq(recipe_new(&r), 0);
	ck_assert_int_eq(stored_recipe_parse(s, NAME("t"), NAME("b"), r),
			 -ERR_no_recipe);
	ck_assert_int_eq(stored_recipe_parse(s, NAME("t"), NAME("a"), r), 0);
	ck_assert_int_eq(recipe_check(r), 0);
	recipe_free(r);
}
END_TEST

/* Attributes that others have set are no recipes, and a time that is none is
 * not known. */
START_TEST(others_attributes)
{
	ck_assert_int_eq(
		store_set_attribute(s, NAME("t"), NAME("recipe/"), NAME("x")),
		0);
	ck_assert_int_eq(store_set_attribute(s, NAME("t"), NAME("recipe/a/b"),
					     NAME("x")),
			 0);
	ck_assert_int_eq(
		store_set_attribute(s, NAME("t"), NAME("recipez"), NAME("x")),
		0);
	ck_assert_int_eq(set("z", GOOD, 3), 0);
	ck_assert_int_eq(set("b", GOOD, 3), 0);
	ck_assert_int_eq(store_set_attribute(s, NAME("t"),
					     NAME("recipe-time/b"), NAME("-1")),
			 0);
	are("b@0 z@3 ");
}
END_TEST

int main(void)
{
	const TTest *tests[] = { set_found_moved_removed, refused,
				 others_attributes };

	return run_suite("stored_recipe", setup, teardown, tests, 3);
}
