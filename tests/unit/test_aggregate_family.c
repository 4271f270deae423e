#include <stdlib.h>

#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/unit/mem_store.h"
#include "tests/unit/suite.h"

/* Aggregate families of a store: no flush, compaction or snapshot changes what
 * is read. */
static uint32_t random_state = 1;

static uint32_t draw(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

static int64_t draw_number(enum aggregate_kind kind)
{
	/* Of hll so few that sketches are exact. */
	return kind == AGGREGATE_HLL ? draw(700)
				     : (int64_t)draw(1 << 23) * draw(1 << 23) *
					       (draw(2) ? 1 : -1);
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* What merging all of them has to give. */
static int64_t expected(enum aggregate_kind kind, const int64_t *numbers,
			size_t count)
{
	int64_t sorted[1000];
	uint64_t sum = 0;
	size_t i, different = 0;

	memcpy(sorted, numbers, count * sizeof(*numbers));
	qsort(sorted, count, sizeof(*sorted), compare_numbers);
	for (i = 0; i < count; i++) {
		sum += (uint64_t)sorted[i];
		different += i == 0 || sorted[i] != sorted[i - 1];
	}
	switch (kind) {
	case AGGREGATE_MIN:
		return sorted[0];
	case AGGREGATE_MAX:
		return sorted[count - 1];
	case AGGREGATE_HLL:
		return (int64_t)different;
	default:
		return (int64_t)sum;
	}
}

static struct store *open_store(void)
{
	static const enum family_type types[] = { FAMILY_INTSUM, FAMILY_INTMIN,
						  FAMILY_INTMAX, FAMILY_INTHLL,
						  FAMILY_BYTES };
	static const char *const names[] = { "1", "2", "3", "4", "5" };
	struct family_spec specs[5];
	struct store_options options;
	struct store *s;
	size_t i;

	for (i = 0; i < 5; i++)
		specs[i] = (struct family_spec){ bytes_string(names[i]), NULL,
						 types[i] };
	mem_store_options(&options);
	options.memtable_size = 200000;
	options.file_size = 20000;
	s = mem_store(&options);
	ck_assert_int_eq(
		store_create_table(s, BYTES_LITERAL("t"), false, specs, 5), 0);
	return s;
}

static void add(struct store *s, const char *family, uint64_t timestamp,
		int64_t number)
{
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("r")),
			 0);
	ck_assert_int_eq(write_add(w, bytes_string(family), BYTES_LITERAL("q"),
				   timestamp, number),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

/* The number of the newest version, as a snapshot sees it. */
static int64_t number_at(struct store *s, const struct snapshot *snapshot,
			 const char *family, enum aggregate_kind kind)
{
	struct buf memory = BUF_INIT;
	struct cell cell;
	int64_t number;

	ck_assert_int_eq(store_get(s, snapshot, BYTES_LITERAL("t"),
				   BYTES_LITERAL("r"), bytes_string(family),
				   BYTES_LITERAL("q"), &cell, &memory),
			 1);
	number = aggregate_number(kind, cell.value);
	buf_release(&memory);
	return number;
}

/* Adds, flushes and compactions in any order, with snapshots that stay. */
START_TEST(any_compaction)
{
	enum { ADDS = 400, SNAPSHOTS = 3 };
	static const char *const families[] = { "", "1", "2", "3", "4" };
	struct store *s = open_store();
	struct snapshot *snapshots[SNAPSHOTS] = { NULL };
	static int64_t numbers[5][ADDS];
	size_t counts[SNAPSHOTS] = { 0 }, i, j;
	int kind;

	for (i = 0; i < ADDS; i++) {
		for (kind = AGGREGATE_SUM; kind <= AGGREGATE_HLL; kind++) {
			numbers[kind][i] =
				draw_number((enum aggregate_kind)kind);
			add(s, families[kind], 5, numbers[kind][i]);
		}
		if (draw(25) == 0)
			ck_assert_int_eq(engine_flush(store_engine(s)), 0);
		if (draw(40) == 0)
			ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
		if (draw(20) == 0) {
			j = draw(SNAPSHOTS);
			if (snapshots[j])
				store_snapshot_release(s, snapshots[j]);
			ck_assert_int_eq(store_snapshot(s, &snapshots[j]), 0);
			counts[j] = i + 1;
		}
		for (kind = AGGREGATE_SUM; kind <= AGGREGATE_HLL; kind++)
			for (j = draw(8); j < SNAPSHOTS; j++)
				if (snapshots[j])
					ck_assert_int_eq(
						number_at(s, snapshots[j],
							  families[kind], kind),
						expected(kind, numbers[kind],
							 counts[j]));
	}
	for (j = 0; j < SNAPSHOTS; j++)
		store_snapshot_release(s, snapshots[j]);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	for (kind = AGGREGATE_SUM; kind <= AGGREGATE_HLL; kind++)
		ck_assert_int_eq(number_at(s, NULL, families[kind], kind),
				 expected(kind, numbers[kind], ADDS));
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* Sets or removes the column that add adds to, in the plain family. */
static void change_plain(struct store *s, struct bytes value, bool set)
{
	struct bytes f = BYTES_LITERAL("5"), q = BYTES_LITERAL("q");
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("r")),
			 0);
	ck_assert_int_eq(set ? write_set(w, f, q, 5, value)
			     : write_delete_column(w, f, q),
			 0);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	write_free(w);
}

static int make_sum(struct store *s, struct bytes family)
{
	return store_set_type(s, BYTES_LITERAL("t"), family, FAMILY_INTSUM);
}

/* A family that has values takes no type that they are not of, numbers or not.
 */
START_TEST(values_are_kept)
{
	struct store *s = open_store();
	struct buf memory = BUF_INIT;
	struct cell cell;

	add(s, "1", 5, 7); /* another family's cell is in nobody's way */
	change_plain(s, BYTES_LITERAL("text"), true);
	ck_assert_int_eq(make_sum(s, BYTES_LITERAL("5")),
			 -ERR_family_not_empty);
	ck_assert_str_eq(err_detail(),
			 "family \"5\" has cells: only one without any becomes "
			 "one of aggregates");
	ck_assert_int_eq(store_set_type(s, BYTES_LITERAL("t"),
					BYTES_LITERAL("5"), FAMILY_STRING),
			 0);
	change_plain(s, BYTES_LITERAL("\0\0\0\0\0\0\0\5"), true);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	ck_assert_int_eq(make_sum(s, BYTES_LITERAL("5")),
			 -ERR_family_not_empty);
	ck_assert_int_eq(store_get(s, NULL, BYTES_LITERAL("t"),
				   BYTES_LITERAL("r"), BYTES_LITERAL("5"),
				   BYTES_LITERAL("q"), &cell, &memory),
			 1);
	ck_assert_uint_eq(cell.value.size, 8);
	buf_release(&memory);
	change_plain(s, BYTES_NONE, false);
	ck_assert_int_eq(make_sum(s, BYTES_LITERAL("5")), 0);
	add(s, "5", 5, 10);
	ck_assert_int_eq(number_at(s, NULL, "5", AGGREGATE_SUM), 10);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

static int add_newest(void *context, struct write *w)
{
	int err = write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("r"));

	if (err == 0)
		err = write_add_newest(w, BYTES_LITERAL("1"),
				       BYTES_LITERAL("q"), context, 1, NULL);
	return err;
}

START_TEST(newest_bucket)
{
	struct store *s = open_store();
	int64_t one = 1;

	ck_assert_int_eq(store_update(s, add_newest, &one, false), 0);
	ck_assert_int_eq(store_update(s, add_newest, &one, false), 0);
	ck_assert_int_eq(number_at(s, NULL, "1", AGGREGATE_SUM), 2);
	add(s, "1", INT64_MAX - 1, 40);
	ck_assert_int_eq(store_update(s, add_newest, &one, false), 0);
	ck_assert_int_eq(number_at(s, NULL, "1", AGGREGATE_SUM), 41);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { any_compaction, values_are_kept,
				 newest_bucket };

	return run_suite("aggregate_family", NULL, NULL, tests, 3);
}
