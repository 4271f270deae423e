#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/run/dead.h"
#include "store/engine/compact/pick.h"
#include "store/engine/run/step.h"
#include "store/engine/run/unit.h"
#include "store/model/model.h"
#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/*
 * What is dead comes back by itself, and at a bounded cost: a store without a
 * background, whose ticks and steps are called by hand, each tick a second.
 */
#define ROWS 2000
#define DAY UINT64_C(86400000000)
#define IDLE 8 /* ticks until deletions of rows are flushed, and more */

static struct volume *volume;
static struct store *store;
static struct store_options options;
static uint64_t now_us;

static uint64_t now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock by_hand = { .now = now };

static void set_up(void)
{
	struct gc_policy *age = gc_policy_leaf(GC_MAX_AGE, DAY);
	struct family_spec families[] = {
		{ .name = BYTES_LITERAL("aged"), .gc = age },
		{ .name = BYTES_LITERAL("kept") },
	};

	now_us = 100 * DAY;
	small_store_options(&options);
	options.clock = &by_hand;
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
	ck_assert_int_eq(store_create_table(store, bytes_string("t"), false,
					    families, 2),
			 0);
	ck_assert_int_eq(store_create_table(store, bytes_string("u"), false,
					    families, 2),
			 0);
	gc_policy_free(age);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

static struct write *begin(void)
{
	struct write *w;

	ck_assert_int_eq(write_new(store, &w), 0);
	return w;
}

static void commit(struct write *w)
{
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
}

static void name_row(struct write *w, const char *table, unsigned int number)
{
	char key[32];

	snprintf(key, sizeof(key), "r%06u", number);
	ck_assert_int_eq(write_row(w, bytes_string(table), bytes_string(key)),
			 0);
}

/* Rows from first on, each with a cell of 100 bytes that do not repeat. */
static void fill(const char *table, const char *family, unsigned int first,
		 unsigned int count)
{
	uint8_t data[100];
	uint32_t state = first + 1;
	unsigned int i, j;

	for (i = first; i < first + count; i++) {
		struct write *w = begin();

		for (j = 0; j < sizeof(data); j++) {
			state = state * 1664525 + 1013904223;
			data[j] = (uint8_t)(state >> 24);
		}
		name_row(w, table, i);
		ck_assert_int_eq(write_set(w, bytes_string(family),
					   BYTES_LITERAL("q"), now_us,
					   bytes_of(data, sizeof(data))),
				 0);
		commit(w);
	}
}

static void delete_rows(const char *table, unsigned int first,
			unsigned int count, unsigned int step)
{
	unsigned int i;

	for (i = first; i < first + count; i += step) {
		struct write *w = begin();

		name_row(w, table, i);
		ck_assert_int_eq(write_delete_row(w), 0);
		commit(w);
	}
}

static uint64_t sst_bytes(void)
{
	return small_store_sst_bytes(store);
}

static unsigned int count(const char *table)
{
	struct scan_range range = { .table = bytes_string(table) };
	struct scan *scan;
	struct cell cell;
	unsigned int n = 0;

	ck_assert_int_eq(scan_open(store, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1)
		n++;
	scan_close(scan);
	return n;
}

static struct bytes row_of(unsigned int number)
{
	static char key[32];

	snprintf(key, sizeof(key), "r%06u", number);
	return bytes_string(key);
}

/* The versions of a row's column "q" that are seen. */
static unsigned int versions(const char *family, unsigned int number)
{
	struct scan_range range = { .table = BYTES_LITERAL("t"),
				    .row = row_of(number),
				    .has_family = true,
				    .family = bytes_string(family) };
	struct scan *scan;
	struct cell cell;
	unsigned int n = 0;

	ck_assert_int_eq(scan_open(store, NULL, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1)
		n++;
	scan_close(scan);
	return n;
}

static void set_at(const char *family, unsigned int row, uint64_t timestamp)
{
	struct write *w = begin();

	name_row(w, "t", row);
	ck_assert_int_eq(write_set(w, bytes_string(family), BYTES_LITERAL("q"),
				   timestamp, BYTES_LITERAL("value")),
			 0);
	commit(w);
}

/* Merges what is at the lowest level with nothing else: how many puts are left.
 */
static uint64_t merge_bottom(void)
{
	struct engine *e = store_engine(store);
	const struct level *bottom;
	struct compaction c;
	struct version *v;
	uint64_t left;

	pthread_mutex_lock(&e->work);
	v = engine_version(e);
	ck_assert_int_eq(
		compact_pick_bottom(v, BYTES_NONE, BYTES_NONE, UINT64_MAX, &c),
		1);
	ck_assert_int_eq(engine_merge(e, v, &c, "asked"), 0);
	compaction_release(&c);
	version_put(v);
	bottom = &e->version->levels[LEVEL_COUNT - 1];
	ck_assert_uint_eq(bottom->count, 1);
	left = sst_properties(bottom->files[0]->sst)->put_count;
	pthread_mutex_unlock(&e->work);
	return left;
}

/* Two rows of a family of which the policy lets the newest version be, and
 * others for a day, at the lowest level; in each a version of now and one of
 * half a day ago. */
static void two_rows(void)
{
	struct gc_policy *policy =
		gc_policy_pair(GC_INTERSECTION, gc_policy_leaf(GC_MAX_AGE, DAY),
			       gc_policy_leaf(GC_MAX_VERSIONS, 1));
	struct family_spec family = { .name = BYTES_LITERAL("some"),
				      .gc = policy };
	unsigned int row;

	ck_assert_int_eq(
		store_create_family(store, BYTES_LITERAL("t"), &family), 0);
	gc_policy_free(policy);
	for (row = 0; row < 2; row++) {
		set_at("some", row, now_us - DAY / 2);
		set_at("some", row, now_us);
	}
	ck_assert_int_eq(store_compact(store, bytes_string("t")), 0);
}

static void delete_newest(unsigned int row, uint64_t timestamp)
{
	struct write *w = begin();

	name_row(w, "t", row);
	ck_assert_int_eq(write_delete_cells(w, BYTES_LITERAL("some"),
					    BYTES_LITERAL("q"), timestamp,
					    timestamp + 1),
			 0);
	commit(w);
}

/* The second newest becomes the newest before it is a day old, and so it stays,
 * though a merge comes later that sees nothing of the deletion: that one is in
 * a memtable, then in a file above. */
START_TEST(what_has_become_the_newest_stays)
{
	uint64_t all;

	two_rows();
	all = merge_bottom();
	delete_newest(0, now_us);
	now_us += DAY;
	merge_bottom();
	ck_assert_uint_eq(versions("some", 0), 1);
	small_store_flush(store);
	merge_bottom();
	ck_assert_uint_eq(versions("some", 0), 1);
	ck_assert_uint_eq(versions("some", 1), 1);
	ck_assert_int_eq(store_compact(store, bytes_string("t")), 0);
	ck_assert_uint_eq(versions("some", 0), 1);
	ck_assert_uint_eq(versions("some", 1), 1);
	ck_assert_uint_eq(merge_bottom(), all - 2);
}
END_TEST

static void drop_what_was_hidden_before(bool flushed)
{
	uint64_t all, now;

	two_rows();
	all = merge_bottom();
	now = now_us;
	now_us += DAY;
	delete_newest(0, now - 1);
	if (flushed)
		ck_assert_int_eq(engine_flush(store_engine(store)), 0);
	ck_assert_uint_eq(merge_bottom(), all - 2);
	ck_assert_uint_eq(versions("some", 0), 1);
	ck_assert_uint_eq(versions("some", 1), 1);
}

/* What was hidden before the first deletion that a merge does not see can go,
 * wherever that lies. */
START_TEST(what_was_hidden_before_a_deletion_goes)
{
	drop_what_was_hidden_before(false);
}
END_TEST

START_TEST(and_if_that_is_in_a_file_above)
{
	drop_what_was_hidden_before(true);
}
END_TEST

START_TEST(deleted_rows_come_back)
{
	uint64_t full;

	fill("t", "kept", 0, ROWS);
	small_store_flush(store);
	full = sst_bytes();
	ck_assert_uint_gt(full, ROWS * 100);
	delete_rows("t", 0, ROWS, 1);
	small_store_wait(store, IDLE);
	ck_assert_uint_lt(sst_bytes(), full / 50);
	ck_assert_uint_eq(count("t"), 0);
}
END_TEST

/* As long as somebody reads at a moment at which they were there. */
START_TEST(snapshots_keep_them)
{
	struct snapshot *snapshot;
	uint64_t full;

	fill("t", "kept", 0, ROWS);
	small_store_flush(store);
	full = sst_bytes();
	ck_assert_int_eq(store_snapshot(store, &snapshot), 0);
	delete_rows("t", 0, ROWS, 1);
	small_store_wait(store, IDLE);
	ck_assert_uint_ge(sst_bytes(), full);
	store_snapshot_release(store, snapshot);
	small_store_wait(store, IDLE);
	/* What merges found too early is left to those that come by itself. */
	ck_assert_uint_eq(count("t"), 0);
}
END_TEST

/* A few deletions are not worth what a merge reads. */
START_TEST(few_deletions_wait)
{
	uint64_t compacted, flushes;

	fill("t", "kept", 0, ROWS);
	small_store_flush(store);
	ck_assert_int_eq(store_compact(store, bytes_string("t")), 0);
	compacted = small_store_stats(store).compacted_size;
	flushes = small_store_stats(store).flush_count;
	delete_rows("t", 0, ROWS, 50);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(small_store_stats(store).flush_count, flushes);
	small_store_flush(store);
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(small_store_stats(store).compacted_size, compacted);
	ck_assert_uint_eq(count("t"), ROWS - ROWS / 50);
}
END_TEST

START_TEST(a_dropped_table_comes_back)
{
	uint64_t other;

	fill("u", "kept", 0, ROWS / 10);
	small_store_flush(store);
	other = sst_bytes();
	fill("t", "kept", 0, ROWS);
	small_store_flush(store);
	ck_assert_int_eq(store_drop_table(store, bytes_string("t"), false), 0);
	small_store_wait(store, 1);
	ck_assert_uint_lt(sst_bytes(), 2 * other + (32 << 10));
	ck_assert_uint_eq(count("u"), ROWS / 10);
}
END_TEST

/* Which one knew, of several, though the others stay. */
START_TEST(a_dropped_table_comes_back_with_who_saw_it)
{
	struct family_spec kept = { .name = BYTES_LITERAL("kept") };
	struct snapshot *before, *between;
	uint64_t full;

	ck_assert_int_eq(store_snapshot(store, &before), 0);
	ck_assert_int_eq(
		store_create_table(store, bytes_string("v"), false, &kept, 1),
		0);
	fill("v", "kept", 0, ROWS);
	small_store_flush(store);
	full = sst_bytes();
	ck_assert_int_eq(store_snapshot(store, &between), 0);
	ck_assert_int_eq(store_drop_table(store, bytes_string("v"), false), 0);
	small_store_wait(store, 1);
	ck_assert_uint_ge(sst_bytes(), full);
	store_snapshot_release(store, between);
	small_store_wait(store, 1);
	ck_assert_uint_lt(sst_bytes(), full / 10);
	store_snapshot_release(store, before);
}
END_TEST

/* One tombstone in a memtable, beside a writer. */
START_TEST(an_emptied_table_comes_back)
{
	struct write *w;
	uint64_t full;

	fill("t", "kept", 0, ROWS);
	small_store_flush(store);
	full = sst_bytes();
	w = begin();
	ck_assert_int_eq(write_delete_range(w, BYTES_LITERAL("t"), BYTES_NONE,
					    BYTES_NONE),
			 0);
	commit(w);
	fill("u", "kept", 0, 1);
	small_store_wait(store, 1);
	ck_assert_uint_lt(sst_bytes(), full / 10);
	ck_assert_uint_eq(count("t"), 0);
	ck_assert_uint_eq(count("u"), 1);
}
END_TEST

START_TEST(what_has_expired_comes_back)
{
	uint64_t full;

	fill("t", "aged", 0, ROWS);
	small_store_flush(store);
	full = sst_bytes();
	small_store_wait(store, IDLE);
	ck_assert_uint_gt(sst_bytes(), full * 9 / 10);
	now_us += DAY + 1;
	small_store_wait(store, 1);
	ck_assert_uint_lt(sst_bytes(), full / 50);
	ck_assert_uint_eq(count("t"), 0);
}
END_TEST

/* What does not age beside it is not written anew again and again. */
START_TEST(what_stays_is_left_alone)
{
	uint64_t compacted;
	unsigned int i;

	for (i = 0; i < ROWS; i += 10) {
		fill("t", i % 20 ? "kept" : "aged", i, 10);
		now_us += DAY / 1000;
	}
	small_store_flush(store);
	now_us += DAY;
	small_store_wait(store, IDLE);
	ck_assert_uint_eq(count("t"), ROWS / 2);
	compacted = small_store_stats(store).compacted_size;
	now_us += 50 * DAY;
	small_store_wait(store, 10 * IDLE);
	ck_assert_uint_eq(small_store_stats(store).compacted_size, compacted);
}
END_TEST

/* A name that is made and removed again and again, and nothing else. */
START_TEST(a_memtable_of_deletions_goes)
{
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		now_us += 1000;
		fill("t", "kept", 7, 1);
		delete_rows("t", 7, 1, 1);
	}
	small_store_wait(store, IDLE);
	ck_assert_uint_lt(sst_bytes(), 4 << 10);
	ck_assert_uint_lt(small_store_stats(store).log_size, 200 << 10);
}
END_TEST

/* What readers pass over ends before all writes of the next version, so that a
 * deletion of it, which comes before them, is not passed over. */
START_TEST(what_follows_the_dead_can_be_deleted)
{
	struct write *w;
	unsigned int i;

	fill("t", "kept", 0, 200);
	delete_rows("t", 0, 199, 1);
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(count("t"), 1);
	w = begin();
	name_row(w, "t", 199);
	ck_assert_int_eq(write_delete_cells(w, BYTES_LITERAL("kept"),
					    BYTES_LITERAL("q"), now_us,
					    now_us + 1),
			 0);
	commit(w);
	ck_assert_uint_eq(count("t"), 0);
}
END_TEST

/* Ages are judged by the latest time that was ever seen, so what is written
 * after the clock went back is of that time: of its own it would have expired
 * before it was seen. */
START_TEST(a_clock_that_was_ahead)
{
	unsigned int round;

	fill("t", "aged", 0, 1);
	now_us += 3 * DAY;
	ck_assert_uint_eq(count("t"), 0);
	now_us -= 3 * DAY;
	for (round = 1; round < 4; round++) {
		struct write *w = begin();

		name_row(w, "t", round);
		ck_assert_int_eq(write_set(w, BYTES_LITERAL("aged"),
					   BYTES_LITERAL("q"), STORE_NOW,
					   BYTES_LITERAL("v")),
				 0);
		commit(w);
		ck_assert_uint_eq(count("t"), round);
		ck_assert_uint_ge(store_now(store), now_us + 3 * DAY);
		volume_mem_keep(volume);
		ck_assert_int_eq(store_close(store), 0);
		ck_assert_int_eq(store_open_volume(volume, &options, &store),
				 0);
	}
	now_us += 3 * DAY;
	ck_assert_uint_eq(count("t"), 3);
	now_us += 2 * DAY;
	ck_assert_uint_eq(count("t"), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		deleted_rows_come_back,
		what_has_become_the_newest_stays,
		what_was_hidden_before_a_deletion_goes,
		and_if_that_is_in_a_file_above,
		snapshots_keep_them,
		few_deletions_wait,
		a_dropped_table_comes_back,
		a_dropped_table_comes_back_with_who_saw_it,
		an_emptied_table_comes_back,
		what_has_expired_comes_back,
		what_stays_is_left_alone,
		a_memtable_of_deletions_goes,
		what_follows_the_dead_can_be_deleted,
		a_clock_that_was_ahead,
	};

	return run_suite("dead", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
