#include <pthread.h>

#include "store/base/coding.h"
#include "store/engine/files/memtable.h"
#include "store/engine/read/cursor.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/rng.h"
#include "tests/unit/volume_directory.h"
#include "tests/unit/suite.h"

/* Counters: cells that are written very often. */

enum { ROWS = 3, WRITES = 3000 };

/* A write of a row, or of all of them. */
struct change {
	unsigned int kind; /* KEY_... or BATCH_RANGE, which is of all rows */
	unsigned int row;
	int64_t number;
};

static struct change changes[WRITES + 1]; /* by sequence */
static struct memtable *m;
static struct buf key;

static struct bytes version_of(unsigned int row)
{
	uint8_t name = (uint8_t)('a' + row);

	buf_reset(&key);
	ck_assert_int_eq(key_add_table(&key, 1), 0);
	ck_assert_int_eq(key_add_part(&key, bytes_of(&name, 1)), 0);
	ck_assert_int_eq(key_add_part(&key, bytes_string("f")), 0);
	ck_assert_int_eq(key_add_part(&key, bytes_string("q")), 0);
	ck_assert_int_eq(key_add_timestamp(&key, 5), 0);
	return buf_bytes(&key);
}

static void apply(uint64_t seq)
{
	static const uint8_t ends[] = { 0, 0, 0, 1, 0, 0, 0, 2 };
	const struct change *c = &changes[seq];
	struct batch b = BATCH_INIT;
	uint8_t value[8];
	int err;

	put_u64be(value, (uint64_t)c->number);
	if (c->kind == BATCH_RANGE)
		err = batch_delete_range(&b, bytes_of(ends, 4),
					 bytes_of(ends + 4, 4));
	else if (c->kind == KEY_DELETE)
		err = batch_delete(&b, version_of(c->row));
	else if (c->kind == KEY_PUT)
		err = batch_put(&b, version_of(c->row), bytes_of(value, 8));
	else
		err = batch_merge(&b, version_of(c->row), bytes_of(value, 8));
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(memtable_reserve(m, &b), 1);
	memtable_apply(m, &b, seq);
	batch_release(&b);
}

/* What a reader at seq sees of a row whose family is as old as floor. */
static int64_t sum_of_changes(unsigned int row, uint64_t seq, uint64_t floor)
{
	uint64_t sum = 0;

	for (; seq >= floor && seq > 0; seq--) {
		const struct change *c = &changes[seq];

		if (c->kind == BATCH_RANGE)
			break;
		if (c->row != row)
			continue;
		if (c->kind != KEY_DELETE)
			sum += (uint64_t)c->number;
		if (c->kind != KEY_MERGE)
			break;
	}
	return (int64_t)sum;
}

/* The same as a cursor asks for it; *steps is how many steps it took. */
static int64_t sum_by_merging(unsigned int row, uint64_t seq, uint64_t floor,
			      unsigned int *steps)
{
	struct aggregate a = { 0 };
	struct memtable_iter it;
	size_t version;
	int64_t number;
	int at;

	aggregate_start(&a, AGGREGATE_SUM);
	version = version_of(row).size;
	ck_assert_int_eq(key_add_trailer(&key, seq, (enum key_kind)0xff), 0);
	memtable_iter_init(&it, m);
	at = iter_seek(&it.iter, buf_bytes(&key));
	for (*steps = 0; at > 0; ++*steps) {
		struct bytes k = it.iter.key;

		if (!bytes_equal(key_version(k), bytes_of(key.data, version)) ||
		    key_seq(k) < floor || key_kind(k) == KEY_DELETE ||
		    memtable_cover(m, k, seq, NULL) > key_seq(k))
			break;
		if (key_kind(k) == KEY_PUT) {
			ck_assert_int_eq(aggregate_add(&a, it.iter.value), 0);
			break;
		}
		at = iter_merge(&it.iter, floor, &a);
	}
	ck_assert_int_ge(at, 0);
	number = aggregate_number(AGGREGATE_SUM, buf_bytes(&a.state));
	aggregate_release(&a);
	return number;
}

/* Deletions of each kind and puts end a chain, for whatever moment and age of
 * the family; what was written comes once each from a walk. */
START_TEST(chains_against_a_list)
{
	struct rng rng = { (uint64_t)_i + 1 };
	unsigned int others = _i < 3 ? 8 : 200, steps;
	struct memtable_iter it;
	uint64_t seq, cells = 0;
	int at;

	ck_assert_int_eq(memtable_new(4 << 20, &m), 0);
	for (seq = 1; seq <= WRITES; seq++) {
		struct change *c = &changes[seq];

		c->kind = rng_one_in(&rng, others)
				  ? (unsigned int[]){ KEY_PUT, KEY_DELETE,
						      BATCH_RANGE }[rng_below(
					    &rng, 3)]
				  : KEY_MERGE;
		c->row = rng_below(&rng, ROWS);
		c->number = rng_below(&rng, 1000);
		cells += c->kind != BATCH_RANGE;
		apply(seq);
	}
	for (seq = 1; seq <= WRITES; seq++) {
		uint64_t floor = rng_one_in(&rng, 4)
					 ? 1 + rng_below(&rng, (uint32_t)seq)
					 : 0;
		unsigned int row = rng_below(&rng, ROWS);

		ck_assert_int_eq(sum_by_merging(row, seq, floor, &steps),
				 sum_of_changes(row, seq, floor));
	}
	memtable_iter_init(&it, m);
	for (at = iter_seek(&it.iter, BYTES_NONE); at > 0;
	     at = iter_next(&it.iter), cells--)
		ck_assert_uint_eq(
			get_u64be(it.iter.value.data) *
				(key_kind(it.iter.key) != KEY_DELETE),
			(uint64_t)changes[key_seq(it.iter.key)].number *
				(key_kind(it.iter.key) != KEY_DELETE));
	ck_assert_uint_eq(cells, 0);
	memtable_put(m);
	buf_release(&key);
}
END_TEST

/* A change of the schema begins a new chain: of a family that was made anew all
 * since then is one step. */
START_TEST(family_made_anew)
{
	struct batch b = BATCH_INIT;
	unsigned int steps;
	uint64_t seq;

	ck_assert_int_eq(memtable_new(1 << 20, &m), 0);
	for (seq = 1; seq <= 1000; seq++) {
		changes[seq] = (struct change){ KEY_MERGE, 0, 1 };
		if (seq != 500) {
			apply(seq);
			continue;
		}
		changes[seq].row = 1;
		ck_assert_int_eq(batch_mark(&b), 0);
		ck_assert_int_eq(memtable_reserve(m, &b), 1);
		memtable_apply(m, &b, seq);
	}
	ck_assert_int_eq(sum_by_merging(0, 1000, 500, &steps), 500);
	ck_assert_uint_eq(steps, 1);
	ck_assert_int_eq(sum_by_merging(0, 1000, 0, &steps), 999);
	ck_assert_uint_eq(steps, 2);
	batch_release(&b);
	memtable_put(m);
	buf_release(&key);
}
END_TEST

static unsigned int asked;

/* As cursor_stop, which asks it for each 1,024 entries that are passed. */
static bool stop(void)
{
	asked++;
	return false;
}

/* A store with a family of sums and a plain one. */
static struct store *open_store(void)
{
	struct family_spec families[] = {
		{ .name = BYTES_LITERAL("plain") },
		{ .name = BYTES_LITERAL("sum"), .type = FAMILY_INTSUM },
	};
	struct store_options o;
	struct store *s;

	store_options_init(&o);
	o.create = true;
	o.background = false;
	ck_assert_int_eq(store_open_volume(open_volume(), &o, &s), 0);
	ck_assert_int_eq(
		store_create_table(s, BYTES_LITERAL("t"), false, families, 2),
		0);
	return s;
}

/* Writes n times to one version of a cell. */
static void write_often(struct store *s, bool sum, unsigned int n)
{
	struct bytes value = BYTES_LITERAL("v"), q = BYTES_LITERAL("q");
	struct write *w;
	unsigned int i;

	ck_assert_int_eq(write_new(s, &w), 0);
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(
			write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("r")),
			0);
		ck_assert_int_eq(
			sum ? write_add(w, BYTES_LITERAL("sum"), q, 5, 1)
			    : write_set(w, BYTES_LITERAL("plain"), q, 5, value),
			0);
		ck_assert_int_eq(store_commit(s, w, false), 0);
	}
	write_free(w);
}

/* All cells of the store, of which there are as many as this; the last one's
 * number. */
static int64_t read_all(struct store *s, const struct engine_snapshot *snapshot,
			unsigned int cells)
{
	static const uint8_t bounds[] = { 0, 0, 0, 1, 0xff };
	struct cursor *c;
	struct cell cell;
	int64_t number = 0;

	ck_assert_int_eq(cursor_open(store_engine(s), snapshot,
				     bytes_of(bounds, 4),
				     bytes_of(bounds + 4, 1), BYTES_NONE, &c),
			 0);
	cursor_stop(c, stop);
	for (; cursor_next(c, CURSOR_VERSION, &cell) == 1; cells--)
		number = aggregate_number(AGGREGATE_SUM, cell.value);
	ck_assert_uint_eq(cells, 0);
	cursor_close(c);
	return number;
}

/* However often a version was written since the last flush, a reader passes
 * few entries: of now, and of a moment before most of the writes. */
START_TEST(few_steps)
{
	struct store *s = open_store();
	struct engine_snapshot *early;
	unsigned int i;

	write_often(s, false, 100);
	write_often(s, true, 100);
	ck_assert_int_eq(engine_snapshot(store_engine(s), &early), 0);
	for (i = 1; i <= 3; i++) {
		write_often(s, false, 10000);
		write_often(s, true, 10000);
		asked = 0;
		ck_assert_int_eq(read_all(s, NULL, 2), 100 + 10000 * i);
		ck_assert_int_eq(read_all(s, early, 2), 100);
		ck_assert_uint_eq(asked, 0);
		if (i == 2)
			ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	}
	engine_snapshot_release(store_engine(s), early);
	ck_assert_int_eq(store_compact(s, BYTES_NONE), 0);
	ck_assert_int_eq(read_all(s, NULL, 2), 30100);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

enum { SHARED = 30000 };

/* Reads beside a writer of ones: never less than before, nor than was known to
 * be there. */
static void *read_along(void *store)
{
	struct store *s = store;
	struct buf memory = BUF_INIT;
	struct cell cell;
	int64_t last = 0, known;
	int found;

	while (last < SHARED) {
		known = (int64_t)engine_visible_seq(store_engine(s));
		buf_reset(&memory);
		found = store_get(s, NULL, BYTES_LITERAL("t"),
				  BYTES_LITERAL("r"), BYTES_LITERAL("sum"),
				  BYTES_LITERAL("q"), &cell, &memory);
		if (found < 0)
			return (void *)"error";
		if (found == 0)
			continue;
		/* A few sequences are the schema's. */
		if (aggregate_number(AGGREGATE_SUM, cell.value) < last ||
		    aggregate_number(AGGREGATE_SUM, cell.value) < known - 10)
			return (void *)"too little";
		last = aggregate_number(AGGREGATE_SUM, cell.value);
		if (last > SHARED)
			return (void *)"too much";
	}
	buf_release(&memory);
	return NULL;
}

START_TEST(readers_beside_a_writer)
{
	struct store *s = open_store();
	pthread_t readers[2];
	void *problem;
	size_t i;

	for (i = 0; i < 2; i++)
		ck_assert_int_eq(
			pthread_create(&readers[i], NULL, read_along, s), 0);
	write_often(s, true, SHARED / 2);
	ck_assert_int_eq(engine_flush(store_engine(s)), 0);
	write_often(s, true, SHARED / 2);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(pthread_join(readers[i], &problem), 0);
		ck_assert_msg(!problem, "%s", (const char *)problem);
	}
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* Many numbers at once are one change. */
START_TEST(many_numbers)
{
	const int64_t numbers[] = { 5, -7, 1000 };
	struct store *s = open_store();
	struct write *w;

	ck_assert_int_eq(write_new(s, &w), 0);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("r")),
			 0);
	ck_assert_int_eq(write_add_all(w, BYTES_LITERAL("sum"),
				       BYTES_LITERAL("q"), 5, numbers, 3),
			 0);
	ck_assert_uint_eq(write_count(w), 1);
	ck_assert_int_eq(store_commit(s, w, false), 0);
	ck_assert_int_eq(read_all(s, NULL, 1), 998);
	write_free(w);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counter");
	TCase *tests = tcase_create("counter");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, chains_against_a_list, 0, 6);
	tcase_add_test(tests, family_made_anew);
	tcase_add_test(tests, few_steps);
	tcase_add_test(tests, readers_beside_a_writer);
	tcase_add_test(tests, many_numbers);
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_set_timeout(tests, 600);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
