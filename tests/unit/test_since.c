#include <stdio.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Scans of what is not older than some time: they give the same as one that
 * looks at everything, and leave out the blocks that hold nothing for them. And
 * rows that part a table of several files. */
#define ROWS 4000
#define OLD 1000
#define NEW 900000 /* rows 1000 to 1099 have a version of this time and later */

static struct store *s;

static void set(struct write *w, unsigned int row, uint64_t us)
{
	char key[16], value[200];

	snprintf(key, sizeof(key), "row%05u", row);
	snprintf(value, sizeof(value), "%0150u", row * 7919);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(key)), 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"), bytes_string("q"), us,
				   bytes_string(value)),
			 0);
}

static void setup(void)
{
	const struct family_spec f = { .name = BYTES_LITERAL("f") };
	struct store_options options;
	struct write *w;
	unsigned int row;

	mem_store_options(&options);
	options.file_size = 100000;
	s = mem_store(&options);
	ck_assert_int_eq(store_create_table(s, bytes_string("t"), false, &f, 1),
			 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	for (row = 0; row < ROWS; row++)
		set(w, row, OLD + row % 10);
	for (row = 1000; row < 1100; row++)
		set(w, row, NEW + row);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	/* Some in files above, and deletions of new and old ones. */
	for (row = 1050; row < 1060; row++) {
		set(w, row + 1000, NEW + row);
		ck_assert_int_eq(write_row(w, bytes_string("t"),
					   bytes_string("row01000")),
				 0);
		ck_assert_int_eq(write_delete_row(w), 0);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	set(w, 3000, NEW * 2);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

static uint64_t blocks_read(void)
{
	struct store_stats stats;

	store_stats(s, &stats);
	return stats.cache_hits + stats.cache_misses;
}

/* How many cells the scan gives that are not older than us. */
static unsigned int count(const struct scan_range *range, uint64_t us)
{
	struct scan *scan;
	struct cell cell;
	unsigned int n = 0;

	ck_assert_int_eq(scan_open(s, NULL, range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1)
		n += cell.timestamp_us >= us;
	scan_close(scan);
	return n;
}

START_TEST(blocks_are_left_out)
{
	static const uint64_t times[] = { 0,          OLD,     OLD + 5, NEW,
					  NEW + 1050, NEW * 2, NEW * 3 };
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	unsigned int all, found;
	uint64_t before, full = 0, read = 0;
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		range.since_us = 0;
		before = blocks_read();
		all = count(&range, times[i]);
		full = blocks_read() - before;
		range.since_us = times[i];
		before = blocks_read();
		found = count(&range, times[i]);
		read = blocks_read() - before;
		ck_assert_uint_eq(found, all);
		if (times[i] >= NEW)
			ck_assert_uint_lt(read, full / 4);
	}
}
END_TEST

START_TEST(filters_say_so)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	uint64_t before, full, read;
	struct filter *parts[2], *f;

	before = blocks_read();
	ck_assert_uint_eq(count(&range, NEW), 99 + 10 + 1);
	full = blocks_read() - before;
	ck_assert_int_eq(filter_new_timestamps(NEW, 0, &parts[0]), 0);
	ck_assert_int_eq(filter_new_column_limit(1, &parts[1]), 0);
	ck_assert_int_eq(filter_new_chain(parts, 2, &f), 0);
	range.filter = f;
	before = blocks_read();
	ck_assert_uint_eq(count(&range, 0), 99 + 10 + 1);
	read = blocks_read() - before;
	ck_assert_uint_lt(read, full / 4);
	filter_free(f);
	/* The other way round the limit counts older ones. */
	ck_assert_int_eq(filter_new_row_limit(1, &parts[0]), 0);
	ck_assert_int_eq(filter_new_timestamps(0, NEW, &parts[1]), 0);
	ck_assert_int_eq(filter_new_chain(parts, 2, &f), 0);
	range.filter = f;
	ck_assert_uint_eq(count(&range, 0), ROWS - 1 - (99 + 10 + 1));
	filter_free(f);
}
END_TEST

/* A column of so many versions, at the odd times, of which some are deleted,
 * one by one and by spans, in the memtable and in files. */
#define VERSIONS 3000

static void make_versions(const char *family)
{
	struct write *w;
	unsigned int i;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("u"), bytes_string("r")), 0);
	for (i = 0; i < VERSIONS; i++)
		ck_assert_int_eq(write_set(w, bytes_string(family),
					   bytes_string("q"), 2 * i + 1,
					   bytes_string("v")),
				 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	ck_assert_int_eq(write_row(w, bytes_string("u"), bytes_string("r")), 0);
	for (i = 0; i < VERSIONS; i += 7)
		ck_assert_int_eq(write_delete_cells(w, bytes_string(family),
						    bytes_string("q"),
						    2 * i + 1, 2 * i + 2),
				 0);
	ck_assert_int_eq(write_delete_cells(w, bytes_string(family),
					    bytes_string("q"), 1000, 2000),
			 0);
	ck_assert_int_eq(write_set(w, bytes_string(family), bytes_string("q"),
				   1501, bytes_string("again")),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

/* The timestamp of the newest version up to us, or 0; *cells is how many
 * entries were stepped over. */
static uint64_t newest_until(const char *family, uint64_t us, bool bounded,
			     uint64_t *cells)
{
	struct scan_range range = {
		.table = BYTES_LITERAL("u"),
		.row = BYTES_LITERAL("r"),
		.has_family = true,
		.has_qualifier = true,
		.family = bytes_string(family),
		.qualifier = BYTES_LITERAL("q"),
		.until_us = bounded ? us : 0,
	};
	uint64_t before = thread_cost.cells, found = 0;
	struct scan *scan;
	struct cell cell;

	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	while (!found && scan_next(scan, CURSOR_VERSION, &cell) == 1)
		if (cell.timestamp_us <= us)
			found = cell.timestamp_us;
	scan_close(scan);
	*cells = thread_cost.cells - before;
	return found;
}

/* Whatever the rule is, the same is found as without the bound; and if it does
 * not count, what is newer is not looked at. */
START_TEST(newer_versions_are_left_out)
{
	static const char *const names[] = { "all", "counted", "aged" };
	struct family_spec families[3];
	struct gc_policy *counts = gc_policy_leaf(GC_MAX_VERSIONS, 100);
	struct gc_policy *expires = gc_policy_leaf(GC_MAX_AGE, UINT64_MAX / 4);
	uint64_t us, cells, all;
	size_t i;

	memset(families, 0, sizeof(families));
	for (i = 0; i < 3; i++)
		families[i].name = bytes_string(names[i]);
	families[2].gc = expires;
	ck_assert_int_eq(
		store_create_table(s, bytes_string("u"), false, families, 3),
		0);
	for (i = 0; i < 3; i++) {
		make_versions(names[i]);
		/* Set later, it hides what is there still. */
		if (i == 1)
			ck_assert_int_eq(store_set_gc(s, bytes_string("u"),
						      bytes_string(names[i]),
						      counts),
					 0);
		for (us = 1; us < 2 * VERSIONS + 10; us += 13) {
			ck_assert_uint_eq(
				newest_until(names[i], us, true, &cells),
				newest_until(names[i], us, false, &all));
			if (i != 1 && (us < 1000 || us > 2000))
				ck_assert_uint_le(cells, 20);
		}
		ck_assert_uint_gt(
			newest_until(names[i], 2 * VERSIONS, true, &cells), 0);
	}
	gc_policy_free(counts);
	gc_policy_free(expires);
}
END_TEST

struct samples {
	char last[16];
	uint64_t size;
	unsigned int count;
	bool ended;
};

static int take_sample(void *context, struct bytes row, uint64_t size)
{
	struct samples *t = context;

	ck_assert(!t->ended);
	ck_assert_uint_ge(size, t->size);
	t->size = size;
	t->ended = row.size == 0;
	if (t->ended)
		return 0;
	ck_assert_int_lt(bytes_compare(bytes_string(t->last), row), 0);
	snprintf(t->last, sizeof(t->last), "%.*s", (int)row.size, row.data);
	t->count++;
	return 0;
}

/* Files of 100,000 bytes are what samples lie between. */
START_TEST(samples_part_the_table)
{
	struct samples all = { .count = 0 }, some = { .count = 0 };

	ck_assert_int_eq(store_sample_rows(s, bytes_string("t"), BYTES_NONE,
					   BYTES_NONE, take_sample, &all),
			 0);
	ck_assert(all.ended);
	ck_assert_uint_ge(all.count, 1);
	ck_assert_uint_gt(all.size, 0);
	ck_assert_int_eq(store_sample_rows(s, bytes_string("t"),
					   bytes_string(all.last), BYTES_NONE,
					   take_sample, &some),
			 0);
	ck_assert(some.ended);
	ck_assert_uint_lt(some.count, all.count);
	ck_assert_int_eq(store_sample_rows(s, bytes_string("none"), BYTES_NONE,
					   BYTES_NONE, take_sample, &some),
			 -ERR_no_table);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { blocks_are_left_out, filters_say_so,
				 newer_versions_are_left_out,
				 samples_part_the_table };

	return run_suite("since", setup, teardown, tests, 4);
}
