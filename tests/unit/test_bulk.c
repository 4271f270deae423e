#include <stdio.h>
#include <unistd.h>

#include "store/store.h"
#include "tests/unit/suite.h"

/* Bulk loads larger than their memory, so that runs are spilled and merged. */
#define ROWS 20000

static char directory[64];
static struct store *s;
static bool beside; /* loads use a second thread */

static void open_store(void)
{
	struct store_options options;

	store_options_init(&options);
	options.create = true;
	options.background = false;
	options.beside = beside;
	options.memtable_size = 256 << 10;
	options.file_size = 64 << 10;
	ck_assert_int_eq(store_open(directory, &options, &s), 0);
}

static void setup(void)
{
	struct family_spec family = { .name = BYTES_LITERAL("f") };

	beside = false;
	strcpy(directory, "/tmp/test_bulk.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	open_store();
	ck_assert_int_eq(
		store_create_table(s, BYTES_LITERAL("t"), false, &family, 1),
		0);
}

static void report(void *context, const char *problem)
{
	(void)context;
	ck_abort_msg("%s", problem);
}

static void teardown(void)
{
	char command[96];

	ck_assert_int_eq(store_check(s, report, NULL), 0);
	ck_assert_int_eq(store_close(s), 0);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void set(struct write *w, unsigned int row, unsigned int value)
{
	char key[32], text[32];

	snprintf(key, sizeof(key), "row%06u", row);
	snprintf(text, sizeof(text), "value %u", value);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), bytes_string(key)),
			 0);
	ck_assert_int_eq(write_set(w, BYTES_LITERAL("f"), BYTES_LITERAL("q"),
				   1000, bytes_string(text)),
			 0);
}

/* Adds rows first, first + step, ... modulo ROWS to a load, each with the value
 * base + its number. */
static void add(struct bulk_load *load, unsigned int first, unsigned int step,
		unsigned int base)
{
	struct write *w;
	unsigned int i, row = first;

	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = 0; i < ROWS; i++) {
		set(w, row, base + row);
		row = (row + step) % ROWS;
		if (write_count(w) == 1000)
			ck_assert_int_eq(store_bulk_add(load, w), 1);
	}
	ck_assert_int_eq(store_bulk_add(load, w), 1);
	write_free(w);
}

/* All rows are there, in order, with base + their number. */
static void expect(unsigned int count, unsigned int base)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	char key[32], text[32];
	struct scan *scan;
	struct cell cell;
	unsigned int i;
	int err;

	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	for (i = 0; (err = scan_next(scan, CURSOR_VERSION, &cell)) == 1; i++) {
		snprintf(key, sizeof(key), "row%06u", i);
		snprintf(text, sizeof(text), "value %u", base + i);
		if (!bytes_equal(cell.row, bytes_string(key)) ||
		    !bytes_equal(cell.value, bytes_string(text)))
			ck_abort_msg("row %u: %.*s = %.*s", i,
				     (int)cell.row.size,
				     (const char *)cell.row.data,
				     (int)cell.value.size,
				     (const char *)cell.value.data);
	}
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(i, count);
	scan_close(scan);
}

static struct bulk_load *begin(void)
{
	struct bulk_load *load;

	ck_assert_int_eq(store_bulk_begin(s, &load), 0);
	return load;
}

START_TEST(last_put_of_a_version_stays)
{
	struct bulk_load *load = begin();

	add(load, 0, 7919, 1000000); /* in no order, over many runs */
	add(load, 0, 1, 2000000);
	expect(0, 0);
	ck_assert_int_eq(store_bulk_publish(load), 0);
	expect(ROWS, 2000000);
	/* The same load goes on, now over what it has published. */
	add(load, 5, 7919, 3000000);
	ck_assert_int_eq(store_bulk_publish(load), 0);
	store_bulk_free(load);
	expect(ROWS, 3000000);
	ck_assert_int_eq(store_close(s), 0);
	open_store();
	expect(ROWS, 3000000);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	expect(ROWS, 3000000);
}
END_TEST

/* Runs are written beside who adds, and merged in two parts; a load that ends
 * meanwhile leaves nothing. */
START_TEST(two_threads_make_the_same)
{
	struct bulk_load *load;

	ck_assert_int_eq(store_close(s), 0);
	beside = true;
	open_store();
	load = begin();
	add(load, 0, 7919, 1000000); /* in no order, over many runs */
	store_bulk_free(load);
	expect(0, 0);
	load = begin();
	add(load, 0, 7919, 1000000);
	add(load, 0, 1, 2000000);
	ck_assert_int_eq(store_bulk_publish(load), 0);
	expect(ROWS, 2000000);
	/* In order, which is not merged. */
	add(load, 0, 1, 3000000);
	ck_assert_int_eq(store_bulk_publish(load), 0);
	store_bulk_free(load);
	expect(ROWS, 3000000);
}
END_TEST

/* What was written meanwhile is older than the load, what comes after newer. */
START_TEST(takes_effect_when_published)
{
	struct bulk_load *load = begin();
	struct write *w;
	unsigned int i;

	ck_assert_int_eq(write_new(s, &w), 0);
	add(load, 0, 1, 1000000);
	for (i = 0; i < ROWS; i += 100)
		set(w, i, 7);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(store_bulk_publish(load), 0);
	store_bulk_free(load);
	expect(ROWS, 1000000);
	ck_assert_int_eq(write_delete_range(w, BYTES_LITERAL("t"), BYTES_NONE,
					    BYTES_NONE),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	expect(0, 0);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	expect(0, 0);
	write_free(w);
}
END_TEST

START_TEST(leaves_nothing_unless_published)
{
	struct bulk_load *load = begin();
	struct family_spec f = { .name = BYTES_LITERAL("f") };
	struct write *w;

	add(load, 0, 7919, 0);
	store_bulk_free(load);
	expect(0, 0);
	/* A family that was dropped and made again is another one. */
	load = begin();
	add(load, 0, 7919, 0);
	ck_assert_int_eq(
		store_drop_family(s, BYTES_LITERAL("t"), BYTES_LITERAL("f")),
		0);
	ck_assert_int_eq(store_create_family(s, BYTES_LITERAL("t"), &f), 0);
	ck_assert_int_eq(store_bulk_publish(load), -ERR_no_family);
	store_bulk_free(load);
	expect(0, 0);
	/* Anything but a set is handed back as it was. */
	load = begin();
	ck_assert_int_eq(write_new(s, &w), 0);
	set(w, 0, 0);
	ck_assert_int_eq(write_delete_row(w), 0);
	ck_assert_int_eq(store_bulk_add(load, w), 0);
	ck_assert_uint_eq(write_count(w), 2);
	ck_assert_int_eq(store_bulk_publish(load), 0);
	store_bulk_free(load);
	write_free(w);
}
END_TEST

/* Every add is for the families that it met, not only the first. */
START_TEST(a_family_made_meanwhile_is_remembered)
{
	struct bulk_load *load = begin();
	struct family_spec g = { .name = BYTES_LITERAL("g") };
	struct write *w;

	add(load, 0, 1, 0);
	ck_assert_int_eq(store_create_family(s, BYTES_LITERAL("t"), &g), 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	set(w, 0, 0);
	ck_assert_int_eq(write_set(w, g.name, BYTES_LITERAL("q"), 1000,
				   BYTES_LITERAL("of g")),
			 0);
	ck_assert_int_eq(store_bulk_add(load, w), 1);
	ck_assert_int_eq(store_drop_family(s, BYTES_LITERAL("t"), g.name), 0);
	ck_assert_int_eq(store_create_family(s, BYTES_LITERAL("t"), &g), 0);
	ck_assert_int_eq(store_bulk_publish(load), -ERR_no_family);
	store_bulk_free(load);
	expect(0, 0);
	/* The same is told by the next add. */
	load = begin();
	set(w, 0, 0);
	ck_assert_int_eq(store_bulk_add(load, w), 1);
	ck_assert_int_eq(store_drop_family(s, BYTES_LITERAL("t"), g.name), 0);
	set(w, 1, 0);
	ck_assert_int_eq(store_bulk_add(load, w), -ERR_no_family);
	store_bulk_free(load);
	write_free(w);
}
END_TEST

#define LOADS 12
#define SHARED ((uint64_t)16 << 20)

static uint64_t held(void)
{
	struct store_stats stats;

	store_stats(s, &stats);
	return stats.memory[MEMORY_IMPORTS];
}

/* With memory for all of one load, or a row, and no more. */
static void open_large(void)
{
	struct store_options options;

	ck_assert_int_eq(store_close(s), 0);
	store_options_init(&options);
	options.background = false;
	options.beside = beside;
	options.memtable_size = 32 << 20;
	options.shared_size = SHARED;
	ck_assert_int_eq(store_open(directory, &options, &s), 0);
}

/* Columns of one row, in order, of 4 MiB in all. */
static void add_columns(struct bulk_load *load, struct bytes row,
			unsigned int part)
{
	static const char value[60000];
	struct write *w;
	char column[16];
	unsigned int i;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), row), 0);
	for (i = 0; i < 70; i++) {
		snprintf(column, sizeof(column), "%03u.%03u", part, i);
		ck_assert_int_eq(write_set(w, BYTES_LITERAL("f"),
					   bytes_string(column), 1000,
					   bytes_of(value, sizeof(value))),
				 0);
	}
	ck_assert_int_eq(store_bulk_add(load, w), 1);
	write_free(w);
}

static size_t count_cells(void)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	struct scan *scan;
	struct cell cell;
	size_t count = 0;

	ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1)
		count++;
	scan_close(scan);
	return count;
}

START_TEST(open_loads_share_their_memory)
{
	struct bulk_load *loads[LOADS];
	unsigned int i, part;
	char row[16];

	open_large();
	for (i = 0; i < LOADS; i++)
		loads[i] = begin();
	for (part = 0; part < 3; part++)
		for (i = 0; i < LOADS; i++) {
			snprintf(row, sizeof(row), "row%u", i);
			add_columns(loads[i], bytes_string(row), part);
			ck_assert_uint_gt(held(), 0);
			/* Beside that, some get what makes a run. */
			ck_assert_uint_le(held(),
					  SHARED / 2 + LOADS * (3 << 20));
		}
	for (i = 0; i < LOADS; i++) {
		ck_assert_int_eq(store_bulk_publish(loads[i]), 0);
		store_bulk_free(loads[i]);
	}
	ck_assert_uint_eq(held(), 0);
	ck_assert_uint_eq(count_cells(), LOADS * 3 * 70);
}
END_TEST

START_TEST(a_row_may_be_larger_than_memory)
{
	struct bulk_load *load;
	unsigned int part;

	open_large();
	load = begin();
	for (part = 0; part < 10; part++) {
		add_columns(load, BYTES_LITERAL("row"), part);
		ck_assert_uint_le(held(), SHARED / 2);
	}
	ck_assert_int_eq(store_bulk_publish(load), 0);
	store_bulk_free(load);
	ck_assert_uint_eq(count_cells(), 10 * 70);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		last_put_of_a_version_stays,
		two_threads_make_the_same,
		takes_effect_when_published,
		leaves_nothing_unless_published,
		a_family_made_meanwhile_is_remembered,
		open_loads_share_their_memory,
		a_row_may_be_larger_than_memory,
	};

	return run_suite("bulk", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
