#include <stdio.h>
#include <stdlib.h>

#include "store/model/filter/filter_run.h"
#include "store/store.h"
#include "tests/sim/naive_filter.h"
#include "tests/sim/rng.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Filters on random rows, through scans of all kinds, against the naive
 * evaluator; and what is refused. */
#define ROWS 12

static struct store *s;
static struct rng rng;

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

static int compare_copies(const void *left, const void *right)
{
	const struct filtered *a = left, *b = right;
	int order = compare_places(&a->cell, &b->cell);

	if (!order)
		order = bytes_compare(a->cell.value, b->cell.value);
	return order ? order : bytes_compare(a->label, b->label);
}

/* Random data: few names, so that filters meet them. */
static const char *const families[] = { "f", "g", "h" };
static const char *const words[] = { "", "a", "aa", "b", "ab", "c" };

static const char *word(void)
{
	return words[rng_below(&rng, 6)];
}

static void setup(void)
{
	struct family_spec specs[3] = { { .name = BYTES_NONE } };
	size_t i;

	for (i = 0; i < 3; i++)
		specs[i].name = str(families[i]);
	s = mem_store(NULL);
	ck_assert_int_eq(store_create_table(s, str("t"), false, specs, 3), 0);
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

static void fill(void)
{
	struct write *w;
	char row[8];
	size_t i, j;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(
		write_delete_range(w, str("t"), BYTES_NONE, BYTES_NONE), 0);
	for (i = 0; i < ROWS; i++) {
		uint32_t count = 1 + rng_below(&rng, 25);

		snprintf(row, sizeof(row), "%s%zu", i % 2 ? "a" : "b", i);
		ck_assert_int_eq(write_row(w, str("t"), str(row)), 0);
		for (j = 0; j < count; j++)
			ck_assert_int_eq(
				write_set(w, str(families[rng_below(&rng, 3)]),
					  str(word()), rng_below(&rng, 4),
					  str(word())),
				0);
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	if (rng_below(&rng, 2))
		ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
}

static struct filter_range draw_range(void)
{
	return (struct filter_range){
		.start = str(word()),
		.end = str(word()),
		.has_start = rng_below(&rng, 2),
		.has_end = rng_below(&rng, 2),
		.start_open = rng_below(&rng, 2),
		.end_closed = rng_below(&rng, 2),
	};
}

static int draw_leaf(struct filter **out)
{
	static const char *const patterns[] = { "a", "a.*", "b",   "a|b",
						"",  ".+",  "ab?", "a\\C*" };
	const char *pattern = patterns[rng_below(&rng, 8)];
	struct filter_range range = draw_range();

	switch (rng_below(&rng, 17)) {
	case 0:
		return filter_new_pass(out);
	case 1:
		return filter_new_block(out);
	case 2:
		return filter_new_strip(out);
	case 3:
		return filter_new_row(str(rng_below(&rng, 2) ? "a.*" : "b4"),
				      out);
	case 4:
	case 5:
		return filter_new_family(
			str(rng_below(&rng, 4) ? families[rng_below(&rng, 3)]
					       : "f|g"),
			out);
	case 6:
	case 7:
		return filter_new_qualifier(str(pattern), out);
	case 8:
		return filter_new_value(str(pattern), out);
	case 9:
		return filter_new_columns(str(families[rng_below(&rng, 3)]),
					  &range, out);
	case 10:
		return filter_new_values(&range, out);
	case 15:
		return filter_new_bitmask(str(rng_below(&rng, 2) ? "`" : "a@"),
					  out);
	case 11:
		return filter_new_timestamps(rng_below(&rng, 4),
					     rng_below(&rng, 5), out);
	case 12:
		return filter_new_row_limit(1 + rng_below(&rng, 4), out);
	case 13:
		return filter_new_row_offset(rng_below(&rng, 5), out);
	case 14:
		return filter_new_column_limit(1 + rng_below(&rng, 2), out);
	default:
		return rng_below(&rng, 2) ? filter_new_sink(out)
					  : filter_new_label(str("x-1"), out);
	}
}

/* A random filter; sometimes one that is refused: then *out is NULL. */
static int draw_filter(unsigned int depth, struct filter **out)
{
	struct filter *parts[3] = { NULL };
	uint32_t kind = rng_below(&rng, 6);
	size_t count = 2 + rng_below(&rng, 2), i, j;
	int err = 0;

	*out = NULL;
	if (depth == 0 || kind < 2)
		return draw_leaf(out);
	for (i = 0; !err && i < (kind < 5 ? count : 3); i++)
		if (kind < 5 || rng_below(&rng, 4))
			err = draw_filter(depth - 1, &parts[i]);
	if (err < 0) {
		for (j = 0; j < i; j++)
			filter_free(parts[j]);
		return err;
	}
	if (kind < 4)
		return filter_new_chain(parts, count, out);
	if (kind < 5)
		return filter_new_interleave(parts, count, out);
	return filter_new_condition(parts[0], parts[1], parts[2], out);
}

static struct bytes kept(struct bytes b)
{
	uint8_t *copy = malloc(b.size + 1);

	ck_assert_ptr_nonnull(copy);
	if (b.size > 0)
		memcpy(copy, b.data, b.size);
	return bytes_of(copy, b.size);
}

static void keep(struct filtered_list *out, const struct cell *cell,
		 struct bytes label)
{
	struct filtered c = { .cell = *cell, .label = kept(label) };

	c.cell.row = kept(cell->row);
	c.cell.family = kept(cell->family);
	c.cell.qualifier = kept(cell->qualifier);
	c.cell.value = kept(cell->value);
	filtered_add(out, &c);
}

static void release_kept(struct filtered_list *l)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		free((void *)(uintptr_t)l->items[i].cell.row.data);
		free((void *)(uintptr_t)l->items[i].cell.family.data);
		free((void *)(uintptr_t)l->items[i].cell.qualifier.data);
		free((void *)(uintptr_t)l->items[i].cell.value.data);
		free((void *)(uintptr_t)l->items[i].label.data);
	}
	filtered_release(l);
}

static struct filtered_list read_rows(const struct scan_range *range)
{
	struct filtered_list out = { NULL, 0, 0 };
	enum cursor_step step = CURSOR_VERSION;
	struct scan *scan;
	struct cell cell;
	int result;

	ck_assert_int_eq(scan_open(s, NULL, range, &scan), 0);
	for (;;) {
		result = scan_next(scan, step, &cell);
		if (result == 0 && range->reverse && step == CURSOR_VERSION &&
		    out.count > 0) {
			step = CURSOR_ROW;
			continue;
		}
		ck_assert_int_ge(result, 0);
		if (result == 0)
			break;
		step = CURSOR_VERSION;
		keep(&out, &cell, scan_label(scan));
	}
	scan_close(scan);
	return out;
}

/* What the filter lets pass of all, a list of whole rows in scan order. */
static struct filtered_list expected(struct filter *f,
				     const struct filtered_list *all,
				     bool reverse)
{
	struct filtered_list out = { NULL, 0, 0 };
	size_t start = 0, end;

	for (; start < all->count; start = end) {
		struct filtered_list row = { all->items + start, 0, 0 };
		struct filtered_list sunk = { NULL, 0, 0 }, passed;

		for (end = start; end < all->count &&
				  bytes_equal(all->items[end].cell.row,
					      all->items[start].cell.row);
		     end++)
			row.count++;
		passed = naive_filter(f, &row, &sunk);
		filtered_append(&passed, sunk);
		if (reverse)
			filtered_append(&passed, out);
		else
			filtered_append(&out, passed);
		if (reverse)
			out = passed;
	}
	return out;
}

/* Equal but for the order of copies; got is in scan order. */
static void compare(struct filtered_list *got, struct filtered_list *want,
		    bool reverse)
{
	size_t i;

	ck_assert_uint_eq(got->count, want->count);
	for (i = 1; i < got->count; i++) {
		const struct cell *a = &got->items[i - 1].cell;
		const struct cell *b = &got->items[i].cell;

		if (reverse && !bytes_equal(a->row, b->row))
			ck_assert_int_gt(bytes_compare(a->row, b->row), 0);
		else
			ck_assert_int_le(compare_places(a, b), 0);
	}
	if (got->count == 0)
		return;
	qsort(got->items, got->count, sizeof(*got->items), compare_copies);
	qsort(want->items, want->count, sizeof(*want->items), compare_copies);
	for (i = 0; i < got->count; i++)
		ck_assert_int_eq(
			compare_copies(&got->items[i], &want->items[i]), 0);
}

/* Steps of all kinds and seeks give cells that the plain scan gives, too. */
static void walk(const struct scan_range *range,
		 const struct filtered_list *all)
{
	struct scan *scan;
	struct cell cell;
	size_t at = 0, next = 0;
	int result;

	ck_assert_int_eq(scan_open(s, NULL, range, &scan), 0);
	for (;;) {
		enum cursor_step step = rng_below(&rng, 4);

		if (next > 0 && rng_below(&rng, 8) == 0) {
			const struct cell *target =
				&all->items[rng_below(&rng,
						      (uint32_t)all->count)]
					 .cell;

			for (next = 0; bytes_compare(all->items[next].cell.row,
						     target->row) < 0;)
				next++;
			result = scan_seek(scan, target->row, &cell);
		} else {
			while (next > 0 && next < all->count) {
				const struct cell *a = &all->items[at].cell;
				const struct cell *b = &all->items[next].cell;
				bool row = bytes_equal(a->row, b->row);

				if (step == CURSOR_VERSION || !row ||
				    (step == CURSOR_FAMILY &&
				     !bytes_equal(a->family, b->family)) ||
				    (step == CURSOR_COLUMN &&
				     !same_column(a, b)))
					break;
				next++;
			}
			result = scan_next(scan, step, &cell);
		}
		ck_assert_int_eq(result, next < all->count);
		if (result == 0)
			break;
		ck_assert_int_eq(compare_places(&all->items[next].cell, &cell),
				 0);
		at = next++;
	}
	scan_close(scan);
}

/* A number that a longer run gives by the environment. */
static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* More: SEED=7 FILTER_ROUNDS=150 build/tests/unit/test_filters */
START_TEST(filters_agree_with_naive_evaluation)
{
	uint64_t rounds = setting("FILTER_ROUNDS", 24);
	struct scan_range range = { .table = str("t") };
	struct filtered_list all, got, want;
	unsigned int round, i, refused = 0, cells = 0;

	rng = (struct rng){ setting("SEED", 20261121) };
	for (round = 0; round < rounds; round++) {
		fill();
		range.filter = NULL;
		range.reverse = false;
		all = read_rows(&range);
		for (i = 0; i < 120; i++) {
			struct filter *f;
			int err = draw_filter(1 + rng_below(&rng, 4), &f);

			if (err < 0) {
				ck_assert_int_eq(err, -ERR_bad_argument);
				ck_assert_ptr_null(f);
				refused++;
				continue;
			}
			range.filter = f;
			for (range.reverse = false;;) {
				got = read_rows(&range);
				cells += (unsigned int)got.count;
				if (!range.reverse && got.count > 0)
					walk(&range, &got);
				want = expected(f, &all, range.reverse);
				compare(&got, &want, range.reverse);
				release_kept(&got);
				filtered_release(&want);
				if (range.reverse)
					break;
				range.reverse = true;
			}
			filter_free(f);
		}
		release_kept(&all);
	}
	ck_assert_uint_gt(cells, 5000);
	ck_assert_uint_gt(refused, 10);
}
END_TEST

/* A filter that makes 128 copies. */
static struct filter *many_copies(void)
{
	struct filter *parts[128], *f;
	size_t i;

	for (i = 0; i < 128; i++)
		ck_assert_int_eq(filter_new_pass(&parts[i]), 0);
	ck_assert_int_eq(filter_new_interleave(parts, 128, &f), 0);
	return f;
}

START_TEST(bad_arguments_are_refused)
{
	struct filter_range all = { .has_start = false };
	struct filter *f, *parts[2] = { NULL, NULL };
	int i;

	ck_assert_int_eq(filter_new_row(BYTES_NONE, &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_row(str("("), &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_family(str("a:b"), &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_row_limit(0, &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_row_offset(-1, &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_column_limit(0, &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_sample(0.0, &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_sample(1.0, &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_label(str("abcdefghijklmnop"), &f),
			 -ERR_bad_argument);
	ck_assert_int_eq(filter_new_label(str("A"), &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_label(BYTES_NONE, &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_chain(parts, 0, &f), -ERR_bad_argument);
	ck_assert_int_eq(filter_new_pass(&parts[0]), 0);
	ck_assert_int_eq(filter_new_interleave(parts, 1, &f),
			 -ERR_bad_argument);

	/* A sink in a condition, two labels in a chain. */
	ck_assert_int_eq(filter_new_sink(&parts[0]), 0);
	ck_assert_int_eq(filter_new_condition(NULL, parts[0], NULL, &f),
			 -ERR_bad_argument);
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(filter_new_label(str("l"), &parts[i]), 0);
	ck_assert_int_eq(filter_new_chain(parts, 2, &f), -ERR_bad_argument);

	/* Depth, and copies: each level of chains doubles them. */
	ck_assert_int_eq(filter_new_columns(str("f"), &all, &f), 0);
	for (i = 0; i <= FILTER_DEPTH_MAX; i++) {
		parts[0] = f;
		ck_assert_int_eq(filter_new_pass(&parts[1]), 0);
		ck_assert_int_eq(filter_new_chain(parts, 2, &f),
				 i < FILTER_DEPTH_MAX ? 0 : -ERR_bad_argument);
	}
	ck_assert_ptr_null(f);
	ck_assert_int_eq(filter_new_pass(&f), 0);
	for (i = 0; i <= 10; i++) {
		struct filter *twice[2];

		parts[0] = f;
		ck_assert_int_eq(filter_new_pass(&twice[0]), 0);
		ck_assert_int_eq(filter_new_pass(&twice[1]), 0);
		ck_assert_int_eq(filter_new_interleave(twice, 2, &parts[1]), 0);
		ck_assert_int_eq(filter_new_chain(parts, 2, &f),
				 i < 10 ? 0 : -ERR_bad_argument);
	}
}
END_TEST

/* Predicates make no copies, but take steps for each one in them. */
START_TEST(steps_are_bounded)
{
	struct filter *parts[2], *f;
	size_t i;

	ck_assert_int_eq(filter_new_pass(&f), 0);
	for (i = 0; i < 3; i++) {
		parts[0] = many_copies();
		parts[1] = f;
		ck_assert_int_eq(filter_new_chain(parts, 2, &f),
				 i < 2 ? 0 : -ERR_bad_argument);
		if (f)
			ck_assert_int_eq(
				filter_new_condition(f, NULL, NULL, &f), 0);
	}
	ck_assert_ptr_nonnull(strstr(err_detail(), "steps"));
}
END_TEST

START_TEST(samples_take_their_share)
{
	struct filter *parts[2], *f;
	struct filter_run run;
	struct cell cell = { .family = str("f") };
	unsigned int i, taken = 0;
	char row[16];

	ck_assert_int_eq(filter_new_sample(0.5, &parts[0]), 0);
	ck_assert_int_eq(filter_new_sample(0.5, &parts[1]), 0);
	ck_assert_int_eq(filter_new_chain(parts, 2, &f), 0);
	filter_run_start(&run, f);
	for (i = 0; i < 20000; i++) {
		snprintf(row, sizeof(row), "row%u", i);
		cell.row = str(row);
		ck_assert_int_eq(filter_run_row(&run, cell.row), 0);
		ck_assert_int_eq(filter_run_cell(&run, &cell), 0);
		taken += filter_run_take(&run) != NULL;
	}
	filter_run_release(&run);
	filter_free(f);
	/* 5000 are expected; the deviation is 61. */
	ck_assert_uint_gt(taken, 4600);
	ck_assert_uint_lt(taken, 5400);
}
END_TEST

START_TEST(need_is_found)
{
	struct filter *parts[3], *f;
	struct filter_need n;

	ck_assert_int_eq(filter_new_row(str("ab.*"), &parts[0]), 0);
	ck_assert_int_eq(filter_new_family(str("f"), &parts[1]), 0);
	ck_assert_int_eq(filter_new_qualifier(str("q"), &parts[2]), 0);
	ck_assert_int_eq(filter_new_chain(parts, 3, &f), 0);
	n = filter_need(f);
	ck_assert(bytes_equal(n.row_head, str("ab")) && !n.row_is_head);
	ck_assert(n.has_family && bytes_equal(n.family, str("f")));
	ck_assert(n.has_qualifier && bytes_equal(n.qualifier, str("q")));
	filter_free(f);

	/* The limit counts cells of other families. */
	ck_assert_int_eq(filter_new_row(str("abc"), &parts[0]), 0);
	ck_assert_int_eq(filter_new_row_limit(3, &parts[1]), 0);
	ck_assert_int_eq(filter_new_family(str("f"), &parts[2]), 0);
	ck_assert_int_eq(filter_new_chain(parts, 3, &f), 0);
	n = filter_need(f);
	ck_assert(bytes_equal(n.row_head, str("abc")) && n.row_is_head);
	ck_assert(!n.has_family);
	filter_free(f);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { filters_agree_with_naive_evaluation,
				 bad_arguments_are_refused, steps_are_bounded,
				 samples_take_their_share, need_is_found };

	return run_suite("filters", setup, teardown, tests, 5);
}
