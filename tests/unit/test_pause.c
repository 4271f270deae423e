#include <stdio.h>

#include "store/store.h"
#include "tests/sim/rng.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Scans that pause as often as they may give what those do that never pause,
 * and are never further than they say. */
#define ROWS 700
#define CELLS 20
#define LONG_ROW 5000

static struct store *s;
static bool pausing, refusing;
static unsigned int pauses, asked;

static struct bytes str(const char *text)
{
	return bytes_string(text);
}

static bool pause_now(void)
{
	return pausing;
}

/* Two of three values have to wait. */
static bool has_room(uint64_t size)
{
	ck_assert_uint_gt(size, 0);
	return !refusing || asked++ % 3 == 0;
}

/* Rows of CELLS cells, one that is long, and some that are dead but for
 * their entries. */
static void fill(void)
{
	struct write *w;
	char row[16], qualifier[16];
	unsigned int i, j;

	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = 0; i < ROWS; i++) {
		snprintf(row, sizeof(row), "row%03u", i);
		ck_assert_int_eq(write_row(w, str("t"), str(row)), 0);
		for (j = 0; j < (i == 350 ? LONG_ROW : CELLS); j++) {
			snprintf(qualifier, sizeof(qualifier), "q%04u", j / 2);
			ck_assert_int_eq(write_set(w, str(j % 3 ? "f" : "g"),
						   str(qualifier), j,
						   str(i % 50 ? "a" : "b")),
					 0);
		}
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = 100; i < 300; i++) {
		snprintf(row, sizeof(row), "row%03u", i);
		ck_assert_int_eq(write_row(w, str("t"), str(row)), 0);
		for (j = 0; j < CELLS; j++) {
			snprintf(qualifier, sizeof(qualifier), "q%04u", j / 2);
			ck_assert_int_eq(
				write_delete_cells(w, str(j % 3 ? "f" : "g"),
						   str(qualifier), j, j + 1),
				0);
		}
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static void setup(void)
{
	struct family_spec specs[] = { { .name = str("f") },
				       { .name = str("g") } };

	s = mem_store(NULL);
	ck_assert_int_eq(store_create_table(s, str("t"), false, specs, 2), 0);
	fill();
}

static void teardown(void)
{
	ck_assert_int_eq(store_close(s), 0);
}

/* Looks at what was passed: what is given next lies behind it. */
static void note_pause(struct scan *scan, struct buf *position, bool reverse)
{
	struct bytes row;

	pauses++;
	ck_assert_int_eq(scan_position(scan, &row), 0);
	scan_rest(scan);
	if (row.size == 0)
		return;
	if (position->size > 0) {
		int order = bytes_compare(row, buf_bytes(position));

		ck_assert(reverse ? order <= 0 : order >= 0);
	}
	ck_assert_int_eq(buf_set(position, row), 0);
}

static int next(struct scan *scan, enum cursor_step step, struct cell *cell,
		struct buf *position, bool reverse)
{
	int got;

	while ((got = scan_next(scan, step, cell)) == -EAGAIN)
		note_pause(scan, position, reverse);
	if (got == 1 && position->size > 0) {
		int order = bytes_compare(cell->row, buf_bytes(position));

		ck_assert(reverse ? order <= 0 : order >= 0);
	}
	return got;
}

/* Every cell that steps drawn by seed give, as text. */
static void read_all(const struct scan_range *range, uint64_t seed,
		     struct buf *out)
{
	struct buf position = BUF_INIT;
	struct rng rng = { seed };
	struct scan *scan;
	struct cell cell;
	int got;

	ck_assert_int_eq(scan_open(s, NULL, range, &scan), 0);
	for (;;) {
		got = next(scan,
			   rng_below(&rng, 8) ? CURSOR_VERSION
					      : rng_below(&rng, 4),
			   &cell, &position, range->reverse);
		if (got == 0 && range->reverse)
			got = next(scan, CURSOR_ROW, &cell, &position, true);
		ck_assert_int_ge(got, 0);
		if (got == 0)
			break;
		ck_assert(!buf_add_bytes(out, cell.row) &&
			  !buf_add_bytes(out, cell.family) &&
			  !buf_add_bytes(out, cell.qualifier) &&
			  !buf_add(out, &cell.timestamp_us, 8) &&
			  !buf_add_bytes(out, cell.value));
	}
	scan_close(scan);
	buf_release(&position);
}

static struct filter *value_is(const char *pattern)
{
	struct filter *f;

	ck_assert_int_eq(filter_new_value(str(pattern), &f), 0);
	return f;
}

/* Lets "b" pass and nothing, and is at so many places of the pattern that each
 * match can pause. */
#define COSTLY "(b?){140}"
#define KINDS 8 /* of filters that are cheap, */
#define ALL_KINDS 13

static struct filter *chain(struct filter *first, struct filter *second)
{
	struct filter *parts[] = { first, second }, *f;

	ck_assert_int_eq(filter_new_chain(parts, 2, &f), 0);
	return f;
}

/* Two copies of each cell, of which one has lost its value. */
static struct filter *copies(void)
{
	struct filter *parts[2], *f;

	ck_assert_int_eq(filter_new_strip(&parts[0]), 0);
	ck_assert_int_eq(filter_new_pass(&parts[1]), 0);
	ck_assert_int_eq(filter_new_interleave(parts, 2, &f), 0);
	return f;
}

static struct filter *make_filter(unsigned int kind)
{
	struct filter *parts[2], *f = NULL;

	switch (kind) {
	case 1:
		return value_is("b");
	case 2:
		return value_is("none");
	case 3:
		ck_assert_int_eq(filter_new_family(str("g"), &f), 0);
		return f;
	case 4:
		parts[0] = value_is("b");
		ck_assert_int_eq(filter_new_row_limit(3, &parts[1]), 0);
		ck_assert_int_eq(filter_new_chain(parts, 2, &f), 0);
		return f;
	case 5:
		parts[0] = value_is("b");
		parts[1] = value_is("a|b");
		ck_assert_int_eq(
			filter_new_condition(parts[0], parts[1], NULL, &f), 0);
		return f;
	case 6:
		parts[0] = value_is("b");
		parts[1] = value_is("b");
		ck_assert_int_eq(filter_new_interleave(parts, 2, &f), 0);
		return f;
	case 7:
		ck_assert_int_eq(filter_new_column_limit(1, &f), 0);
		return f;
	case 8:
		return value_is(COSTLY);
	case 9:
		ck_assert_int_eq(filter_new_row_offset(5, &f), 0);
		f = chain(f, value_is(COSTLY));
		ck_assert_int_eq(filter_new_row_limit(7, &parts[1]), 0);
		return chain(f, parts[1]);
	case 10:
		ck_assert_int_eq(filter_new_row_limit(7, &f), 0);
		return chain(chain(copies(), f), value_is(COSTLY));
	case 11:
		ck_assert_int_eq(filter_new_column_limit(1, &f), 0);
		f = chain(f, value_is(COSTLY "|z"));
		ck_assert_int_eq(filter_new_row(str("row(.?){140}"), &parts[0]),
				 0);
		ck_assert_int_eq(filter_new_condition(
					 chain(parts[0], value_is("b")), f,
					 chain(copies(), value_is(COSTLY)), &f),
				 0);
		return f;
	case 12:
		parts[0] = value_is(COSTLY);
		parts[1] = value_is(COSTLY "|z");
		ck_assert_int_eq(filter_new_union(parts, 2, &f), 0);
		return chain(f, value_is(COSTLY));
	default:
		return NULL;
	}
}

static void compare(unsigned int kind, bool reverse, uint64_t seed,
		    const struct bytes *bounds)
{
	struct scan_range range = { .table = str("t"),
				    .start = bounds[0],
				    .end = bounds[1],
				    .reverse = reverse,
				    .pause = pause_now,
				    .room = has_room };
	struct buf plain = BUF_INIT, paused = BUF_INIT;
	bool refuse = refusing;

	pausing = refusing = false;
	range.filter = make_filter(kind);
	read_all(&range, seed, &plain);
	filter_free(range.filter);
	pausing = !refuse || seed % 2;
	refusing = refuse;
	range.filter = make_filter(kind);
	read_all(&range, seed, &paused);
	filter_free(range.filter);
	ck_assert_msg(bytes_equal(buf_bytes(&plain), buf_bytes(&paused)),
		      "filter %u%s, seed %llu: %zu bytes, not %zu", kind,
		      reverse ? " backwards" : "", (unsigned long long)seed,
		      paused.size, plain.size);
	buf_release(&plain);
	buf_release(&paused);
}

START_TEST(pauses_change_nothing)
{
	static const struct bytes all[2] = { { 0 } };
	const struct bytes part[2] = { str("row05"), str("row4") };
	const struct bytes few[2] = { str("row3"), str("row36") };
	unsigned int kind, seed;

	for (kind = 0; kind < ALL_KINDS; kind++) {
		unsigned int before = pauses;

		for (seed = 1; kind < KINDS && seed < 6; seed++) {
			compare(kind, seed % 2, seed, seed < 4 ? all : part);
			compare(kind, seed % 2 == 0, seed, all);
		}
		for (seed = 1; kind >= KINDS && seed < 3; seed++)
			compare(kind, seed % 2, seed, few);
		ck_assert_uint_gt(pauses, before);
	}
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	for (kind = 0; kind < KINDS; kind++)
		for (seed = 1; seed < 4; seed++)
			compare(kind, seed % 2, seed, part);
}
END_TEST

/* A store whose values are all large. */
static void only_large_values(void)
{
	struct family_spec specs[] = { { .name = str("f") },
				       { .name = str("g") } };
	struct store_options options;
	char row[16], qualifier[16];
	unsigned int i, j;
	struct write *w;

	ck_assert_int_eq(store_close(s), 0);
	mem_store_options(&options);
	options.blob_threshold = 1;
	s = mem_store(&options);
	ck_assert_int_eq(store_create_table(s, str("t"), false, specs, 2), 0);
	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = 0; i < 12; i++) {
		snprintf(row, sizeof(row), "row3%02u", i);
		ck_assert_int_eq(write_row(w, str("t"), str(row)), 0);
		for (j = 0; j < CELLS; j++) {
			snprintf(qualifier, sizeof(qualifier), "q%04u", j / 2);
			ck_assert_int_eq(write_set(w, str(j % 3 ? "f" : "g"),
						   str(qualifier), j,
						   str(i % 5 ? "a" : "b")),
					 0);
		}
	}
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

/* Nor does it change anything if there is no room for values now and then, be
 * they asked for by a filter or given. */
START_TEST(want_of_room_changes_nothing)
{
	static const struct bytes all[2] = { { 0 } };
	unsigned int kind, seed;

	only_large_values();
	for (kind = 0; kind < ALL_KINDS; kind++) {
		unsigned int before = pauses;

		for (seed = 1; seed < (kind < KINDS ? 5 : 3); seed++) {
			refusing = true;
			compare(kind, seed / 2 % 2, seed, all);
		}
		ck_assert_uint_gt(pauses, before);
	}
	refusing = false;
}
END_TEST

/* What a scan has of a value counts for who asks, or as the store's memory, and
 * a value that is left does not. */
START_TEST(values_are_counted)
{
	static uint8_t value[5 << 20];
	struct scan_range range = { .table = str("t"), .row = str("row9") };
	struct memory *memory = store_memory(s);
	struct scan *scan;
	struct write *w;
	struct cell cell;
	int i;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, str("t"), str("row9")), 0);
	ck_assert_int_eq(write_set(w, str("f"), str("q"), 1,
				   bytes_of(value, sizeof(value))),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
	for (i = 0; i < 2; i++) {
		range.room = i ? has_room : NULL;
		ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
		ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 1);
		ck_assert_uint_eq(cell.value.size, sizeof(value));
		ck_assert_uint_eq(scan_value_memory(scan), sizeof(value));
		ck_assert_uint_eq(memory_used(memory, MEMORY_VALUES),
				  i ? 0 : sizeof(value));
		ck_assert_int_eq(scan_next(scan, CURSOR_VERSION, &cell), 0);
		ck_assert_uint_eq(scan_value_memory(scan), 0);
		ck_assert_uint_eq(memory_used(memory, MEMORY_VALUES), 0);
		scan_close(scan);
	}
}
END_TEST

/* A filter that drops everything does not hold its thread. */
START_TEST(a_pause_comes_soon)
{
	struct scan_range range = { .table = str("t"), .pause = pause_now };
	struct bytes row;
	struct scan *scan;
	struct cell cell;
	int reverse;

	for (reverse = 0; reverse < 2; reverse++) {
		unsigned int before = pauses;

		pausing = true;
		range.reverse = reverse;
		range.filter = make_filter(2);
		ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
		while (scan_next(scan, CURSOR_VERSION, &cell) == -EAGAIN) {
			pauses++;
			ck_assert_int_eq(scan_position(scan, &row), 0);
		}
		ck_assert_uint_ge(pauses - before,
				  (ROWS - 200) * CELLS / STORE_STOP_CELLS);
		scan_close(scan);
		filter_free(range.filter);
	}
}
END_TEST

/* Nor does one that takes long over each cell, in a row whose cells a condition
 * has to see as well. */
START_TEST(a_pause_comes_within_a_row)
{
	struct scan_range range = { .table = str("t"),
				    .row = str("row350"),
				    .pause = pause_now };
	struct bytes row;
	struct scan *scan;
	struct cell cell;
	int condition;

	pausing = true;
	for (condition = 0; condition < 2; condition++) {
		unsigned int before = pauses;

		range.filter = value_is("(c?){140}");
		if (condition)
			ck_assert_int_eq(filter_new_condition(range.filter,
							      NULL, NULL,
							      &range.filter),
					 0);
		ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
		while (scan_next(scan, CURSOR_VERSION, &cell) == -EAGAIN) {
			pauses++;
			ck_assert_int_eq(scan_position(scan, &row), 0);
			ck_assert(row.size == 0 || bytes_equal(row, range.row));
		}
		ck_assert_uint_ge(pauses - before, LONG_ROW);
		scan_close(scan);
		filter_free(range.filter);
	}
}
END_TEST

/* A seek ends what has paused, within a match as well. */
START_TEST(a_seek_goes_elsewhere)
{
	struct scan_range range = { .table = str("t"), .pause = pause_now };
	struct scan *scan;
	struct cell cell;
	int i, got;

	for (i = 0; i < 4; i++) {
		pausing = true;
		range.reverse = i % 2;
		range.filter = make_filter(i < 2 ? 1 : 8);
		ck_assert_int_eq(scan_open(s, NULL, &range, &scan), 0);
		while ((got = scan_next(scan, CURSOR_ROW, &cell)) == 1)
			;
		ck_assert_int_eq(got, -EAGAIN);
		pausing = false;
		got = scan_seek(scan, str("row600"), &cell);
		ck_assert_int_eq(got, 1);
		ck_assert(bytes_equal(cell.row, str("row600")));
		scan_close(scan);
		filter_free(range.filter);
	}
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		pauses_change_nothing,      want_of_room_changes_nothing,
		values_are_counted,         a_pause_comes_soon,
		a_pause_comes_within_a_row, a_seek_goes_elsewhere
	};

	return run_suite("pause", setup, teardown, tests, 6);
}
