#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/suite.h"

/* Several changes to families at once: all of them, or none. */
static struct store *s;
static struct volume *volume;

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

static uint64_t test_now(void *context)
{
	(void)context;
	return 1000000000;
}

static void setup(void)
{
	static const struct clock clock = { test_now, NULL };
	struct family_spec families[] = { { .name = str("f") },
					  { .name = str("g") } };
	struct store_options options;

	store_options_init(&options);
	options.create = true;
	options.background = false;
	options.clock = &clock;
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(store_open_volume(volume, &options, &s), 0);
	ck_assert_int_eq(store_create_table(s, str("t"), false, families, 2),
			 0);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

static void set(const char *family, uint64_t us)
{
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("r")), 0);
	ck_assert_int_eq(write_set(w, str(family), str("q"), us, str("v")), 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static size_t versions(const char *family)
{
	struct scan_range range = { .table = str("t"),
				    .row = str("r"),
				    .has_family = true,
				    .family = str(family) };
	struct scan *scan;
	struct cell cell;
	size_t count = 0;

	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1)
		count++;
	scan_close(scan);
	return count;
}

/* Their names, one after another. */
static void families_are(const char *names)
{
	struct schema *schema = store_schema(s);
	const struct table *t = schema_table(schema, str("t"));
	char found[64] = "";
	size_t i;

	for (i = 0; i < t->family_count; i++)
		strncat(found, (const char *)t->families[i].name.data,
			t->families[i].name.size);
	ck_assert_str_eq(found, names);
	schema_put(schema);
}

START_TEST(all_or_none)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	struct family_change changes[] = {
		{ .kind = FAMILY_CREATE, .family = { .name = str("h") } },
		{ .kind = FAMILY_DROP, .family = { .name = str("g") } },
		{ .kind = FAMILY_UPDATE,
		  .family = { .name = str("f"), .gc = one },
		  .set_gc = true },
		{ .kind = FAMILY_DROP, .family = { .name = str("none") } },
	};
	struct schema *before = store_schema(s), *after;

	set("f", 1);
	set("f", 2);
	set("g", 1);
	ck_assert_int_eq(store_change_families(s, str("t"), changes, 4),
			 -ERR_no_family);
	after = store_schema(s);
	ck_assert_ptr_eq(before, after);
	schema_put(before);
	schema_put(after);
	families_are("fg");
	ck_assert_uint_eq(versions("f"), 2);
	ck_assert_int_eq(store_change_families(s, str("t"), changes, 3), 0);
	families_are("fh");
	ck_assert_uint_eq(versions("f"), 1);
	ck_assert_int_eq(store_change_families(s, str("none"), changes, 1),
			 -ERR_no_table);
	gc_policy_free(one);
}
END_TEST

/* What a policy hid does not come back when another takes its place, here as
 * when it is set by itself; and time goes on afterwards. */
START_TEST(what_was_hidden_is_gone)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	struct family_change change = {
		.kind = FAMILY_UPDATE,
		.family = { .name = str("f"), .gc = one },
		.set_gc = true,
	};

	ck_assert_int_eq(store_change_families(s, str("t"), &change, 1), 0);
	set("f", 1);
	set("f", 2);
	ck_assert_uint_eq(versions("f"), 1);
	change.family.gc = NULL;
	ck_assert_int_eq(store_change_families(s, str("t"), &change, 1), 0);
	ck_assert_uint_eq(versions("f"), 1);
	set("f", 3);
	ck_assert_uint_eq(versions("f"), 2);
	gc_policy_free(one);
}
END_TEST

/* A type that the data does not allow keeps all from being changed. */
START_TEST(a_type_that_does_not_fit)
{
	struct family_change changes[] = {
		{ .kind = FAMILY_UPDATE,
		  .family = { .name = str("g"), .type = FAMILY_INTSUM },
		  .set_type = true },
		{ .kind = FAMILY_UPDATE,
		  .family = { .name = str("f"), .type = FAMILY_INTSUM },
		  .set_type = true },
	};
	struct schema *schema;

	set("f", 1);
	ck_assert_int_eq(store_change_families(s, str("t"), changes, 2),
			 -ERR_family_not_empty);
	schema = store_schema(s);
	ck_assert_int_eq(
		table_family(schema_table(schema, str("t")), str("g"))->type,
		FAMILY_BYTES);
	schema_put(schema);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { all_or_none, what_was_hidden_is_gone,
				 a_type_that_does_not_fit };

	return run_suite("families", setup, teardown, tests,
			 sizeof(tests) / sizeof(tests[0]));
}
