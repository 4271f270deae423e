#include <stdio.h>
#include <unistd.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/* Scans that rest hold no memtable that was flushed and little else, and go on
 * where they were, at their moment. */
#define SCANS 1000
#define ROWS 50
#define MEMTABLE ((size_t)256 << 10)

static struct store *s;

struct idle {
	struct snapshot *snapshot;
	struct scan *scan;
	unsigned int write; /* the last one that the snapshot sees */
};

static struct idle idle[SCANS];

/* All rows anew, with the number of the write in their values. */
static void write_rows(unsigned int number)
{
	char key[16], value[64];
	struct write *w;
	unsigned int row;

	ck_assert_int_eq(write_new(s, &w), 0);
	for (row = 0; row < ROWS; row++) {
		snprintf(key, sizeof(key), "row%02u", row);
		snprintf(value, sizeof(value), "%040u", number);
		ck_assert_int_eq(
			write_row(w, bytes_string("t"), bytes_string(key)), 0);
		ck_assert_int_eq(write_set(w, bytes_string("f"),
					   bytes_string("q"), 1,
					   bytes_string(value)),
				 0);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void setup(void)
{
	const struct family_spec f = { .name = BYTES_LITERAL("f") };
	struct store_options options;

	small_store_options(&options);
	options.memtable_size = MEMTABLE;
	s = mem_store(&options);
	ck_assert_int_eq(store_create_table(s, bytes_string("t"), false, &f, 1),
			 0);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

static uint64_t held(enum memory_account account)
{
	struct store_stats stats;

	store_stats(s, &stats);
	return stats.memory[account];
}

/* One step to this row, or the end, of what the scan's write wrote. */
static void step(struct idle *i, unsigned int row)
{
	char key[16], value[64];
	struct cell cell;
	int got = scan_next(i->scan, CURSOR_VERSION, &cell);

	ck_assert_int_eq(got, row < ROWS);
	if (got == 0)
		return;
	snprintf(key, sizeof(key), "row%02u", row);
	snprintf(value, sizeof(value), "%040u", i->write);
	ck_assert(bytes_equal(cell.row, bytes_string(key)));
	if (cell.value.size > 0)
		ck_assert(bytes_equal(cell.value, bytes_string(value)));
}

static void open_idle(struct idle *i, unsigned int write, bool rows)
{
	struct scan_range range = { .table = bytes_string("t"),
				    .rows_only = rows };

	i->write = write;
	ck_assert_int_eq(store_snapshot(s, &i->snapshot), 0);
	ck_assert_int_eq(scan_open(s, i->snapshot, &range, &i->scan), 0);
	step(i, 0);
	scan_rest(i->scan);
}

static void close_idle(struct idle *i)
{
	scan_close(i->scan);
	store_snapshot_release(s, i->snapshot);
}

static uint64_t resident(void)
{
	unsigned long size = 0, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%lu %lu", &size, &pages), 2);
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What 1,000 of them take besides is the files: each version of each row is
 * kept for one of them. */
#define RESIDENT_MAX (64 << 20)
/* A sanitizer's own memory is no concern of this. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

START_TEST(idle_scans_pin_no_memtable)
{
	uint64_t before;
	unsigned int i, row;

	write_rows(0);
	before = resident();
	for (i = 0; i < SCANS; i++) {
		open_idle(&idle[i], i, i % 2);
		write_rows(i + 1);
	}
	ck_assert_uint_ge(held(MEMORY_MEMTABLES), MEMTABLE);
	ck_assert_uint_le(held(MEMORY_MEMTABLES), 3 * MEMTABLE);
	ck_assert_uint_le(held(MEMORY_SCANS), 6 << 20);
	ck_assert(IS_SANITIZED || resident() - before <= RESIDENT_MAX);
	for (i = 0; i < SCANS; i++) {
		step(&idle[i], 1);
		scan_rest(idle[i].scan);
	}
	for (i = 0; i < SCANS; i += 41)
		for (row = 2; row <= ROWS; row++) {
			step(&idle[i], row);
			if (row % 3 == 0)
				scan_rest(idle[i].scan);
		}
	for (i = 0; i < SCANS; i++)
		close_idle(&idle[i]);
	ck_assert_uint_eq(held(MEMORY_SCANS), 0);
}
END_TEST

START_TEST(a_scan_goes_on_after_flush_and_compaction)
{
	unsigned int row;

	write_rows(7);
	open_idle(&idle[0], 7, false);
	open_idle(&idle[1], 7, true);
	for (row = 1; row <= ROWS; row++) {
		write_rows(7 + row);
		if (row % 5 == 0)
			ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
		else
			ck_assert_int_eq(engine_flush(store_engine(s)), 0);
		step(&idle[0], row);
		step(&idle[1], row);
		scan_rest(idle[0].scan);
		scan_rest(idle[1].scan);
	}
	/* The end stays the end. */
	step(&idle[0], ROWS);
	step(&idle[1], ROWS);
	close_idle(&idle[0]);
	close_idle(&idle[1]);
}
END_TEST

START_TEST(names_of_the_last_cell_stay)
{
	struct scan_range range = { .table = bytes_string("t") };
	struct snapshot *snapshot;
	struct scan *scan;
	struct cell cell;

	write_rows(0);
	ck_assert_int_eq(store_snapshot(s, &snapshot), 0);
	ck_assert_int_eq(scan_open(s, snapshot, &range, &scan), 0);
	ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 1);
	scan_rest(scan);
	scan_rest(scan);
	write_rows(1);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	ck_assert(bytes_equal(cell.row, bytes_string("row00")));
	ck_assert(bytes_equal(cell.qualifier, bytes_string("q")));
	/* By a seek, too. */
	ck_assert_int_eq(scan_seek(scan, bytes_string("row30"), &cell), 1);
	ck_assert(bytes_equal(cell.row, bytes_string("row30")));
	scan_close(scan);
	store_snapshot_release(s, snapshot);
}
END_TEST

/* A snapshot has its schema, whoever reads it anew. */
START_TEST(what_was_dropped_is_there)
{
	struct cell cell;

	write_rows(0);
	open_idle(&idle[0], 0, false);
	ck_assert_int_eq(
		store_drop_family(s, bytes_string("t"), bytes_string("f")), 0);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	ck_assert_int_eq(scan_next(idle[0].scan, CURSOR_VERSION, &cell), 1);
	close_idle(&idle[0]);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		idle_scans_pin_no_memtable,
		a_scan_goes_on_after_flush_and_compaction,
		names_of_the_last_cell_stay,
		what_was_dropped_is_there,
	};

	return run_suite("rest", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
