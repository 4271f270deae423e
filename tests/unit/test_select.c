#include <stdio.h>

#include "store/store.h"
#include "tests/sim/rng.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/*
 * Selections of rows beside a predicate that is asked of every key: keys and
 * ranges that overlap, touch and are empty, in both orders, with limits, page
 * after page. Keys are short over few bytes, so that one is often the start of
 * another.
 */
#define ROWS 120
#define PARTS 6

static struct store *s;
static char keys[ROWS][5]; /* ascending, each once */
static size_t key_count;
static struct scan_range how;

static void put(const char *row, const char *qualifier, const char *value)
{
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, bytes_string("t"), bytes_string(row)), 0);
	ck_assert_int_eq(write_set(w, bytes_string("f"),
				   bytes_string(qualifier), 1000,
				   bytes_string(value)),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void random_key(struct rng *r, char key[5])
{
	size_t i, size = 1 + rng_below(r, 4);

	for (i = 0; i < size; i++)
		key[i] = "\1ab\xff"[rng_below(r, 4)];
	key[size] = 0;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void setup(void)
{
	const struct family_spec f = { .name = BYTES_LITERAL("f") };
	struct rng r = { 1 };
	size_t i;

	how.table = bytes_string("t");
	s = mem_store(NULL);
	ck_assert_int_eq(store_create_table(s, bytes_string("t"), false, &f, 1),
			 0);
	for (i = 0; i < ROWS; i++)
		random_key(&r, keys[i]);
	qsort(keys, ROWS, sizeof(keys[0]), compare_keys);
	key_count = 0;
	for (i = 0; i < ROWS; i++)
		if (i == 0 || strcmp(keys[i], keys[key_count - 1]))
			memmove(keys[key_count++], keys[i], sizeof(keys[0]));
	for (i = 0; i < key_count; i++) {
		put(keys[i], "q", i % 3 ? "x" : "y");
		put(keys[i], "r", "z");
	}
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

/* What was chosen, for the predicate. */
struct chosen {
	struct filter_range range[PARTS];
	char start[PARTS][5], end[PARTS][5];
	size_t count;
};

static bool in_range(const struct filter_range *r, struct bytes key)
{
	int start = bytes_compare(key, r->start);
	int end = bytes_compare(key, r->end);

	return (!r->has_start || start > 0 || (start == 0 && !r->start_open)) &&
	       (!r->has_end || end < 0 || (end == 0 && r->end_closed));
}

static bool is_chosen(const struct chosen *c, const char *key)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (in_range(&c->range[i], bytes_string(key)))
			return true;
	return false;
}

static void choose(struct rng *r, struct chosen *c, struct select *select)
{
	size_t i;

	c->count = 1 + rng_below(r, PARTS);
	for (i = 0; i < c->count; i++) {
		struct filter_range *range = &c->range[i];

		random_key(r, c->start[i]);
		random_key(r, c->end[i]);
		*range = (struct filter_range){
			.start = bytes_string(c->start[i]),
			.end = bytes_string(c->end[i]),
			.has_start = !rng_one_in(r, 8),
			.has_end = !rng_one_in(r, 8),
			.start_open = rng_one_in(r, 2),
			.end_closed = rng_one_in(r, 2),
		};
		if (rng_one_in(r, 2)) {
			*range = (struct filter_range){
				.start = range->start,
				.end = range->start,
				.has_start = true,
				.has_end = true,
				.end_closed = true,
			};
			ck_assert_int_eq(select_add_row(select, range->start),
					 0);
		} else {
			ck_assert_int_eq(select_add_range(select, range), 0);
		}
	}
}

/* Reads pages of page rows until the end and checks that the rows are those
 * that are chosen and, if odd, have the value x. */
static void check_pages(struct rng *r, const struct chosen *c,
			struct select *select, bool odd)
{
	size_t i = 0, page = 1 + rng_below(r, 20), on_page;
	struct select_scan *scan;
	struct cell cell;
	char last[5] = "";
	bool more = true;
	int err;

	select->row_limit = page;
	while (more) {
		ck_assert_int_eq(select_open(s, NULL, select, &how, &scan), 0);
		on_page = 0;
		while ((err = select_next(scan, CURSOR_ROW, &cell)) == 1) {
			const char *key;

			do {
				ck_assert_uint_lt(i, key_count);
				key = keys[select->reverse ? key_count - 1 - i
							   : i];
				i++;
			} while (!is_chosen(c, key) ||
				 (odd &&
				  (size_t)((char(*)[5])key - keys) % 3 == 0));
			ck_assert(bytes_equal(cell.row, bytes_string(key)));
			strcpy(last, key);
			on_page++;
		}
		ck_assert_int_eq(err, 0);
		ck_assert_uint_eq(select_row_count(scan), on_page);
		more = select_was_limited(scan);
		ck_assert(!more || on_page == page);
		select_close(scan);
		if (more)
			ck_assert_int_eq(
				select_keep_after(select, bytes_string(last)),
				0);
	}
	for (; i < key_count; i++) {
		const char *key = keys[select->reverse ? key_count - 1 - i : i];

		ck_assert(!is_chosen(c, key) ||
			  (odd && (size_t)((char(*)[5])key - keys) % 3 == 0));
	}
}

START_TEST(rows_come_once)
{
	const char *seed = getenv("SEED");
	struct rng r = { seed ? strtoull(seed, NULL, 10) : 7 };
	struct filter *f;
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		struct select select = SELECT_INIT;
		bool odd = rng_one_in(&r, 3);
		struct chosen c;

		select.reverse = rng_one_in(&r, 2);
		choose(&r, &c, &select);
		if (odd) {
			int err = filter_new_value(bytes_string("x"), &f);

			ck_assert_int_eq(select_filter(&select, err, f), 0);
		}
		check_pages(&r, &c, &select, odd);
		select_release(&select);
	}
}
END_TEST

/* From any row on, selected or not, the rows are those at or behind it, as many
 * as the limit says. */
START_TEST(reading_starts_at_a_row)
{
	struct rng r = { 11 };
	unsigned int i;

	for (i = 0; i < 4000; i++) {
		struct select select = SELECT_INIT;
		uint64_t limit = rng_below(&r, 30), left = limit;
		struct select_scan *scan;
		struct chosen c;
		struct cell cell;
		char from[5] = "";
		size_t at;

		select.reverse = rng_one_in(&r, 2);
		select.row_limit = limit;
		choose(&r, &c, &select);
		if (!rng_one_in(&r, 20))
			random_key(&r, from);
		ck_assert_int_eq(select_open_at(s, NULL, &select, &how,
						bytes_string(from), &scan),
				 0);
		for (at = 0; at < key_count && left > 0; at++) {
			const char *key =
				keys[select.reverse ? key_count - 1 - at : at];
			int order = strcmp(key, from);

			if (!is_chosen(&c, key) ||
			    (select.reverse ? order > 0 : order < 0))
				continue;
			ck_assert_int_eq(select_next(scan, CURSOR_ROW, &cell),
					 1);
			ck_assert(bytes_equal(cell.row, bytes_string(key)));
			left--;
		}
		ck_assert_int_eq(select_next(scan, CURSOR_ROW, &cell), 0);
		ck_assert_uint_eq(select_row_count(scan), limit - left);
		select_close(scan);
		select_release(&select);
	}
}
END_TEST

/* What is left of nothing is nothing; a table that is not there is told even
 * then. */
START_TEST(nothing_is_selected)
{
	const struct scan_range no = { .table = BYTES_LITERAL("no") };
	const struct filter_range empty = { .start = BYTES_LITERAL("b"),
					    .end = BYTES_LITERAL("a"),
					    .has_start = true,
					    .has_end = true };
	struct select select = SELECT_INIT;
	struct select_scan *scan;

	ck_assert(!select_is_empty(&select));
	ck_assert_int_eq(select_keep_range(&select, &empty), 0);
	ck_assert(select_is_empty(&select));
	ck_assert_int_eq(select_any(s, &select, &how), 0);
	ck_assert_int_eq(select_open(s, NULL, &select, &no, &scan),
			 -ERR_no_table);
	ck_assert_int_eq(select_add_row(&select, BYTES_NONE), 0);
	ck_assert(select_is_empty(&select));
	ck_assert_int_eq(select_add_prefix(&select, bytes_string("a")), 0);
	ck_assert_int_eq(select_any(s, &select, &how), 1);
	ck_assert_int_eq(select_keep_prefix(&select, bytes_string("b")), 0);
	ck_assert_int_eq(select_any(s, &select, &how), 0);
	select_release(&select);
	select.row_limit = 0;
	ck_assert_int_eq(select_any(s, &select, &how), 0);
	select_release(&select);
}
END_TEST

START_TEST(limits_are_told)
{
	struct select select = SELECT_INIT;
	struct filter *f;
	char key[4096];
	unsigned int i;
	int err;

	memset(key, 'k', sizeof(key));
	for (i = 0, err = 0; !err; i++) {
		snprintf(key, 11, "%010u", i);
		key[10] = 'k';
		err = select_add_row(&select, bytes_of(key, sizeof(key)));
	}
	ck_assert_int_eq(err, -ERR_bad_argument);
	ck_assert_uint_gt(i, 900);
	ck_assert_uint_lt(i, 1100);
	for (i = 0; i <= SELECT_FILTERS_MAX; i++) {
		err = filter_new_pass(&f);
		err = select_filter(&select, err, f);
		ck_assert_int_eq(
			err, i < SELECT_FILTERS_MAX ? 0 : -ERR_bad_argument);
	}
	select_release(&select);
}
END_TEST

static unsigned int stops;

static bool count_stop(void)
{
	stops++;
	return false;
}

/* What lies between two keys is not looked at, though no row of it passes. */
START_TEST(gaps_cost_nothing)
{
	struct scan_range watched = how;
	struct select select = SELECT_INIT;
	struct select_scan *scan;
	struct write *w;
	struct filter *f;
	struct cell cell;
	unsigned int i;
	char row[16];
	int err;

	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = 0; i < 20 * STORE_STOP_CELLS; i++) {
		snprintf(row, sizeof(row), "m%06u", i);
		ck_assert_int_eq(
			write_row(w, bytes_string("t"), bytes_string(row)), 0);
		ck_assert_int_eq(write_set(w, bytes_string("f"), BYTES_NONE, 0,
					   bytes_string("other")),
				 0);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	put("l", "q", "here");
	put("n", "q", "here");
	watched.stop = count_stop;
	err = filter_new_value(bytes_string("here"), &f);
	ck_assert_int_eq(select_filter(&select, err, f), 0);
	ck_assert_int_eq(select_add_row(&select, bytes_string("n")), 0);
	ck_assert_int_eq(select_add_row(&select, bytes_string("l")), 0);
	ck_assert_int_eq(select_open(s, NULL, &select, &watched, &scan), 0);
	for (i = 0; (err = select_next(scan, CURSOR_VERSION, &cell)) == 1; i++)
		;
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(i, 2);
	ck_assert_uint_lt(stops, 10);
	select_close(scan);
	select_release(&select);
}
END_TEST

/* A second range is read under the name that the table has by then, whoever has
 * the former one. */
START_TEST(table_is_renamed)
{
	struct select select = SELECT_INIT;
	struct select_scan *scan;
	struct cell cell;

	ck_assert_int_eq(select_add_row(&select, bytes_string(keys[1])), 0);
	ck_assert_int_eq(select_add_row(&select, bytes_string(keys[9])), 0);
	ck_assert_int_eq(select_open(s, NULL, &select, &how, &scan), 0);
	ck_assert_int_eq(select_next(scan, CURSOR_ROW, &cell), 1);
	ck_assert_int_eq(
		store_rename_table(s, bytes_string("t"), bytes_string("u")), 0);
	ck_assert_int_eq(
		store_create_table(s, bytes_string("t"), false, NULL, 0), 0);
	ck_assert_int_eq(select_next(scan, CURSOR_ROW, &cell), 1);
	ck_assert(bytes_equal(cell.row, bytes_string(keys[9])));
	ck_assert_int_eq(select_next(scan, CURSOR_ROW, &cell), 0);
	select_close(scan);
	select_release(&select);
}
END_TEST

/* A second range is not looked for in another table of the name; the moment of
 * the first has it still. */
START_TEST(table_is_the_same)
{
	struct select select = SELECT_INIT;
	struct select_scan *scan;
	struct cell cell;

	ck_assert_int_eq(select_add_row(&select, bytes_string(keys[1])), 0);
	ck_assert_int_eq(select_add_row(&select, bytes_string(keys[9])), 0);
	ck_assert_int_eq(select_open(s, NULL, &select, &how, &scan), 0);
	ck_assert_int_eq(select_next(scan, CURSOR_ROW, &cell), 1);
	ck_assert_int_eq(store_drop_table(s, bytes_string("t"), false), 0);
	ck_assert_int_eq(
		store_create_table(s, bytes_string("t"), false, NULL, 0), 0);
	ck_assert_int_eq(select_next(scan, CURSOR_ROW, &cell), 1);
	ck_assert(bytes_equal(cell.row, bytes_string(keys[9])));
	ck_assert_int_eq(select_next(scan, CURSOR_ROW, &cell), 0);
	select_close(scan);
	select_release(&select);
}
END_TEST

/* Of a union each cell comes once, however many of its parts pass it. */
START_TEST(unions_repeat_nothing)
{
	struct select select = SELECT_INIT;
	struct filter *parts[3], *f;
	struct select_scan *scan;
	struct cell cell;
	unsigned int count = 0;
	int err;

	ck_assert_int_eq(filter_new_qualifier(bytes_string("q"), &parts[0]), 0);
	ck_assert_int_eq(filter_new_family(bytes_string("f"), &parts[1]), 0);
	ck_assert_int_eq(filter_new_pass(&parts[2]), 0);
	err = filter_new_union(parts, 3, &f);
	ck_assert_int_eq(select_filter(&select, err, f), 0);
	ck_assert_int_eq(select_open(s, NULL, &select, &how, &scan), 0);
	while ((err = select_next(scan, CURSOR_VERSION, &cell)) == 1)
		count++;
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(count, 2 * key_count);
	select_close(scan);
	select_release(&select);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		rows_come_once,          nothing_is_selected,
		limits_are_told,         gaps_cost_nothing,
		table_is_the_same,       unions_repeat_nothing,
		reading_starts_at_a_row, table_is_renamed,
	};

	return run_suite("select", setup, teardown, tests, 8);
}
