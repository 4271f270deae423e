#include <stdio.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* What is told of tables without reading them: of two that share their files,
 * and of rows that are deleted and not yet gone. */
#define ROWS 20000

static struct store *s;
static struct write *w;

static void begin_row(const char *table, unsigned int row)
{
	char key[16];

	snprintf(key, sizeof(key), "row%05u", row);
	ck_assert_int_eq(write_row(w, bytes_string(table), bytes_string(key)),
			 0);
}

static void fill(const char *table)
{
	unsigned int row;
	char value[64];

	for (row = 0; row < ROWS; row++) {
		begin_row(table, row);
		snprintf(value, sizeof(value), "%050u", row * 7919);
		if (write_set(w, bytes_string("f"), bytes_string("q"), 1000,
			      bytes_string(value)))
			ck_abort_msg("row %u", row);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
}

static void setup(void)
{
	const struct family_spec f = { .name = BYTES_LITERAL("f") };

	s = mem_store(NULL);
	ck_assert_int_eq(store_create_table(s, bytes_string("t"), false, &f, 1),
			 0);
	ck_assert_int_eq(store_create_table(s, bytes_string("u"), false, &f, 1),
			 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	fill("t");
	fill("u");
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
}

static void teardown(void)
{
	write_free(w);
	ck_assert_int_eq(store_close(s), 0);
}

static uint64_t rows_between(const char *table, const char *start,
			     const char *end)
{
	uint64_t rows;

	ck_assert_int_eq(store_estimate_rows(s, bytes_string(table),
					     bytes_string(start),
					     bytes_string(end), &rows),
			 0);
	return rows;
}

static uint64_t rows_of(const char *table)
{
	return rows_between(table, "", "");
}

/* For store_sample_rows. */
static int keep_last(void *context, struct bytes row, uint64_t size)
{
	(void)row;
	*(uint64_t *)context = size;
	return 0;
}

static uint64_t bytes_between(const char *table, const char *start,
			      const char *end)
{
	uint64_t size = 0;

	ck_assert_int_eq(store_sample_rows(s, bytes_string(table),
					   bytes_string(start),
					   bytes_string(end), keep_last, &size),
			 0);
	return size;
}

static void check_near(uint64_t want, uint64_t got)
{
	if (got < want - want / 10 || got > want + want / 10)
		ck_abort_msg("%llu, not about %llu", (unsigned long long)got,
			     (unsigned long long)want);
}

START_TEST(tables_that_share_a_file_part_its_bytes)
{
	uint64_t t = bytes_between("t", "", "");

	ck_assert_uint_gt(t, 100000);
	check_near(t, bytes_between("u", "", ""));
	check_near(t / 2, bytes_between("u", "row05000", "row15000"));
	check_near(ROWS, rows_of("t"));
	check_near(ROWS / 2, rows_between("t", "row05000", "row15000"));
}
END_TEST

static void delete_rows(unsigned int from, unsigned int to, unsigned int step)
{
	unsigned int row;

	for (row = from; row < to; row += step) {
		begin_row("t", row);
		if (write_delete_row(w))
			ck_abort_msg("row %u", row);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
}

/* In the memtable, in a file of their own, and when all is one again. */
static void check_rows(uint64_t want)
{
	check_near(want, rows_of("t"));
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	check_near(want, rows_of("t"));
	check_near(ROWS, rows_of("u"));
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	check_near(want, rows_of("t"));
	check_near(ROWS, rows_of("u"));
}

START_TEST(a_deleted_range_does_not_count)
{
	ck_assert_int_eq(write_delete_range(w, bytes_string("t"),
					    bytes_string("row05000"),
					    bytes_string("row15000")),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_uint_eq(rows_between("t", "row06000", "row14000"), 0);
	check_rows(ROWS / 2);
}
END_TEST

START_TEST(an_emptied_table_has_no_rows)
{
	ck_assert_int_eq(write_delete_range(w, bytes_string("t"), BYTES_NONE,
					    BYTES_NONE),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	check_rows(0);
}
END_TEST

START_TEST(deleted_rows_do_not_count)
{
	delete_rows(0, ROWS, 2);
	check_rows(ROWS / 2);
}
END_TEST

START_TEST(rows_deleted_one_by_one_leave_none)
{
	delete_rows(0, ROWS, 1);
	check_rows(0);
}
END_TEST

START_TEST(what_is_written_again_counts)
{
	delete_rows(0, ROWS, 1);
	fill("t");
	check_rows(ROWS);
}
END_TEST

/* Its bytes say of a row with many versions that there are many. */
START_TEST(a_row_is_one_however_large)
{
	unsigned int version;
	uint64_t rows;

	begin_row("t", 77);
	for (version = 0; version < 8000; version++)
		if (write_set(w, bytes_string("f"), bytes_string("q"),
			      2000 + 1000 * version, bytes_string("value")))
			ck_abort_msg("version %u", version);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	ck_assert_int_eq(store_estimate_rows(
				 s, bytes_string("t"), bytes_string("row00077"),
				 BYTES_LITERAL("row00077\0"), &rows),
			 0);
	ck_assert_uint_eq(rows, 1);
	ck_assert_int_eq(store_estimate_rows(s, bytes_string("t"),
					     bytes_string("row00077x"),
					     BYTES_LITERAL("row00077x\0"),
					     &rows),
			 0);
	ck_assert_uint_le(rows, 1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		tables_that_share_a_file_part_its_bytes,
		a_deleted_range_does_not_count,
		an_emptied_table_has_no_rows,
		deleted_rows_do_not_count,
		rows_deleted_one_by_one_leave_none,
		what_is_written_again_counts,
		a_row_is_one_however_large,
	};

	return run_suite("estimate", setup, teardown, tests, 7);
}
