#include "store/store.h"

#include <glob.h>

#include "tests/unit/suite.h"

/* The golden stores are readable without a change to them. tests/fs compares
 * what they hold; run from the top of the tree. */

static uint64_t count_cells(struct store *s)
{
	struct schema *schema = store_schema(s);
	uint64_t count = 0;
	struct scan *scan;
	struct cell cell;
	size_t i;
	int err = 1;

	for (i = 0; i < schema->table_count; i++) {
		struct scan_range all = { .table = schema->tables[i].name };

		ck_assert_int_eq(scan_open(s, NULL, &all, &scan), 0);
		while ((err = scan_next(scan, CURSOR_VERSION, &cell)) == 1)
			count++;
		ck_assert_msg(err == 0, "%s: %s", err_text(err), err_detail());
		scan_close(scan);
	}
	schema_put(schema);
	return count;
}

static void no_problem(void *context, const char *problem)
{
	(void)context;
	ck_abort_msg("%s", problem);
}

START_TEST(opens_read_only)
{
	struct store_options options;
	struct store *s;
	glob_t stores;
	size_t i;
	int err;

	store_options_init(&options);
	options.read_only = true;
	options.background = false;
	if (glob("tests/golden/v*/store", 0, NULL, &stores) != 0)
		return;
	for (i = 0; i < stores.gl_pathc; i++) {
		err = store_open(stores.gl_pathv[i], &options, &s);
		ck_assert_msg(err == 0, "%s: %s", err_text(err), err_detail());
		ck_assert_uint_gt(count_cells(s), 1000);
		ck_assert_int_eq(store_check(s, no_problem, NULL), 0);
		ck_assert_int_eq(store_close(s), 0);
	}
	globfree(&stores);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { opens_read_only };

	return run_suite("golden", NULL, NULL, tests, 1);
}
