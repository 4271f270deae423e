#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Columns that are larger than files, so that files are cut within them. */
static struct store *store;

static void set_up(void)
{
	struct gc_policy *three = gc_policy_leaf(GC_MAX_VERSIONS, 3);
	struct family_spec family = { .name = BYTES_LITERAL("f"), .gc = three };
	struct store_options o;

	ck_assert_ptr_nonnull(three);
	mem_store_options(&o);
	o.file_size = 256;
	store = mem_store(&o);
	ck_assert_int_eq(
		store_create_table(store, bytes_string("t"), false, &family, 1),
		0);
	gc_policy_free(three);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

/* With clear, deletes the row first. size is at most 8192. */
static void put(const char *qualifier, uint64_t timestamp, size_t size,
		bool clear)
{
	struct rng rng = { timestamp };
	uint8_t value[8192];
	struct write *w;
	size_t i;

	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string("r")), 0);
	if (clear)
		ck_assert_int_eq(write_delete_row(w), 0);
	/* Bytes that do not compress. */
	for (i = 0; i < size; i++)
		value[i] = (uint8_t)rng_next(&rng);
	ck_assert_int_eq(write_set(w, bytes_string("f"),
				   bytes_string(qualifier), timestamp,
				   bytes_of(value, size)),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

static void check_versions(void)
{
	struct scan_range range = {
		.table = BYTES_LITERAL("t"),
		.row = BYTES_LITERAL("r"),
		.has_family = true,
		.family = BYTES_LITERAL("f"),
		.has_qualifier = true,
		.qualifier = BYTES_LITERAL("q"),
	};
	struct scan *scan;
	struct cell cell;

	ck_assert_int_eq(scan_open(store, NULL, &range, &scan), 0);
	ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 1);
	ck_assert_uint_eq(cell.timestamp_us, 9000);
	ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 1);
	ck_assert_uint_eq(cell.timestamp_us, 1000);
	ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 0);
	scan_close(scan);
}

/*
 * Old versions at the bottom are deleted by a tombstone above, and an older
 * timestamp is written later. If the file that holds it went down without its
 * neighbour, which holds the tombstone, the dead versions would count there and
 * push it out.
 */
START_TEST(dead_versions_do_not_count)
{
	unsigned int i;

	put("q", 5000, 900, false);
	put("q", 4000, 900, false);
	put("q", 3000, 900, false);
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	put("q", 9000, 1500, true);
	put("q", 1000, 6000, false);
	/* Enough else beside the tombstone not to make its file urgent. */
	for (i = 0; i < 20; i++)
		put((char[]){ (char)('a' + i % 10), 0 }, 9000 + i / 10, 0,
		    false);
	for (i = 0; i < 4; i++) {
		check_versions();
		ck_assert_int_eq(engine_flush(store_engine(store)), 0);
		put("q", 9000, 1500, false);
	}
	while (engine_step(store_engine(store)) > 0)
		check_versions();
	ck_assert_int_eq(store_compact(store, BYTES_NONE), 0);
	check_versions();
}
END_TEST

int main(void)
{
	const TTest *tests[] = { dead_versions_do_not_count };

	return run_suite("long_column", set_up, tear_down, tests, 1);
}
