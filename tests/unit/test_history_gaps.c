#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/files/edit.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/run/dead.h"
#include "tests/unit/history_store.h"

/* Of which times nobody knows what was there: after a kill, and where the clock
 * was set. */

/* The store as a kill would leave it. */
static struct store *killed(bool read_only)
{
	struct store_options o;
	struct volume *clone;
	struct store *s;

	history_options(&o);
	o.read_only = read_only;
	ck_assert_int_eq(volume_mem_kill_clone(store->volume, &clone), 0);
	ck_assert_int_eq(store_open_volume(clone, &o, &s), 0);
	return s;
}

/* As seen, of another store. */
static int seen_of(struct store *other, uint64_t time_us)
{
	struct store *here = store;
	int count;

	store = other;
	count = seen(time_us);
	store = here;
	return count;
}

/* What came after the last moment that the manifest has was there since nobody
 * knows when. */
START_TEST(a_gap_after_a_kill_is_told)
{
	struct store *s;
	uint64_t known, killed_us;

	put("a", "g", 1000, "1");
	known = tick();
	settle();
	now_us += 1800 * SECOND;
	write_put("b", "g", 1000, "1", true);
	now_us += 1800 * SECOND;
	write_put("c", "g", 1000, "1", true);
	killed_us = now_us += 1800 * SECOND;
	s = killed(true);
	ck_assert_int_eq(seen_of(s, known), 1);
	ck_assert_int_eq(seen_of(s, known + 1), -ERR_no_moment);
	ck_assert_int_eq(seen_of(s, killed_us), -ERR_no_moment);
	ck_assert_int_eq(seen_of(s, 0), 3);
	ck_assert_int_eq(store_close(s), 0);
	s = killed(false);
	ck_assert_int_eq(seen_of(s, known), 1);
	ck_assert_int_eq(seen_of(s, known + 1800 * SECOND), -ERR_no_moment);
	ck_assert_ptr_nonnull(strstr(err_detail(), "1970-01-12T13:46:41"));
	ck_assert_ptr_nonnull(strstr(err_detail(), "1970-01-12T15:16:41"));
	ck_assert_int_eq(seen_of(s, killed_us), 3);
	store_close(store);
	store = s;
	/* It is one as long as its ends are there. */
	for (now_us += 3600 * SECOND; now_us < killed_us + 8000 * SECOND;) {
		put("d", "g", 1000, "1");
		tick();
		settle();
		s = killed(false);
		ck_assert_int_eq(seen_of(s, known), 1);
		ck_assert_int_eq(seen_of(s, killed_us - 1), -ERR_no_moment);
		ck_assert_int_eq(seen_of(s, killed_us), 3);
		ck_assert_int_eq(seen_of(s, now_us), 4);
		ck_assert_int_eq(store_close(s), 0);
		now_us += 2000 * SECOND;
	}
}
END_TEST

static uint64_t steady_us;

static uint64_t steady(void *context)
{
	(void)context;
	return steady_us;
}

/* A second goes by on both clocks, and its moment is noted: its time by that
 * which can be set. */
static uint64_t true_tick(void)
{
	steady_us += SECOND;
	return tick();
}

/* A store with something in it and its clock, which is right: that time. */
static uint64_t begin_by_true_clock(void)
{
	static const struct clock clock = { steady, NULL };

	steady_us = SECOND;
	store_engine(store)->options.steady = &clock;
	true_tick();
	put("a", "g", 1000, "1");
	return true_tick();
}

/* A clock that was ahead for some seconds: what was there until it was right
 * again and had caught up is not known, nor told as if it was. */
START_TEST(a_clock_that_was_ahead_makes_a_gap)
{
	uint64_t good = begin_by_true_clock(), ahead, caught;
	int i;

	now_us += 86400 * SECOND;
	put("b", "g", 1000, "1");
	ahead = true_tick();
	ck_assert_int_eq(seen(good), 1);
	ck_assert_int_eq(seen(good + 3 * SECOND), -ERR_no_moment);
	ck_assert_ptr_nonnull(strstr(err_detail(), "or the clock was set"));
	ck_assert_int_eq(seen(ahead), 2);
	now_us -= 86400 * SECOND;
	for (i = 0; i < 20; i++) {
		put("c", "g", 1000, "1");
		true_tick();
	}
	ck_assert_int_eq(seen(now_us), -ERR_no_moment);
	ck_assert_int_eq(seen(ahead), 2);
	ck_assert_int_eq(seen(ahead + 1), -ERR_no_moment);
	now_us += 86400 * SECOND;
	steady_us += 86400 * SECOND;
	caught = true_tick();
	ck_assert_int_eq(seen(caught - 1), -ERR_no_moment);
	ck_assert_int_eq(seen(caught), 3);
	put("d", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(now_us - 1), 3);
}
END_TEST

/* Nothing was written while it was ahead, but then. */
START_TEST(a_clock_that_was_ahead_of_nothing)
{
	uint64_t good = begin_by_true_clock(), late;

	now_us += 86400 * SECOND;
	true_tick();
	ck_assert_int_eq(seen(good + SECOND), 1);
	now_us -= 86400 * SECOND;
	true_tick();
	late = true_tick();
	ck_assert_int_eq(seen(late), 1);
	put("b", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(late), -ERR_no_moment);
	ck_assert_int_eq(seen(good), 1);
}
END_TEST

/* Nor do edits say that nothing came in a time that did not go by. */
START_TEST(a_clock_that_was_ahead_says_nothing)
{
	uint64_t good = begin_by_true_clock();
	struct store *s;

	settle();
	now_us += 86400 * SECOND;
	true_tick();
	ck_assert_int_eq(engine_apply(store_engine(store), &(struct edit){ 0 }),
			 0);
	write_put("b", "g", 1000, "1", true);
	s = killed(false);
	ck_assert_int_eq(seen_of(s, good), 1);
	ck_assert_int_eq(seen_of(s, good + 60 * SECOND), -ERR_no_moment);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* A clock that is set back while the store is closed: what is written before it
 * has caught up is of a time that nobody knows, also if the store is never open
 * for long. */
START_TEST(a_clock_that_was_set_back_while_closed)
{
	uint64_t good = begin_by_true_clock();
	struct store *s;
	int i;

	settle();
	now_us -= 3600 * SECOND;
	for (i = 0; i < 3; i++) {
		s = killed(false);
		store_close(store);
		store = s;
		write_put("b", "g", 1000, "1", true);
		tick();
		ck_assert_int_eq(seen(good), 1);
	}
	s = killed(false);
	ck_assert_int_eq(seen_of(s, good), 1);
	ck_assert_int_eq(seen_of(s, good + 1), -ERR_no_moment);
	store_close(store);
	store = s;
	now_us += 7200 * SECOND;
	put("c", "g", 1000, "1");
	tick();
	ck_assert_int_eq(seen(good + SECOND), -ERR_no_moment);
	ck_assert_int_eq(seen(now_us), 3);
}
END_TEST

/* One that was ahead from an opening on, and is right at the next: of the time
 * from the closing before to what was noted by it nothing is known. */
START_TEST(a_clock_that_was_ahead_when_opened)
{
	uint64_t good = begin_by_true_clock(), ahead;
	struct edit edit = EDIT_INIT;
	struct store *s;

	settle();
	now_us += 86400 * SECOND;
	s = killed(false);
	store_close(store);
	store = s;
	write_put("b", "g", 1000, "1", true);
	ahead = tick();
	ck_assert_int_eq(engine_apply(store_engine(store), &edit), 0);
	edit_release(&edit);
	ck_assert_int_eq(seen(ahead), 2);
	now_us = good + 4 * SECOND;
	s = killed(false);
	store_close(store);
	store = s;
	ck_assert_int_eq(seen(good), 1);
	ck_assert_int_eq(seen(good + 2 * SECOND), -ERR_no_moment);
	ck_assert_int_eq(seen(ahead), 2);
	write_put("c", "g", 1000, "1", true);
	tick();
	ck_assert_int_eq(seen(now_us), -ERR_no_moment);
	ck_assert_int_eq(seen(0), 3);
}
END_TEST

/* By less than some seconds it may be set, and be wrong by a thousandth; and
 * what GC time is held for is in no way strange. */
START_TEST(a_clock_that_is_a_little_wrong)
{
	uint64_t good = begin_by_true_clock();

	now_us += 4 * SECOND;
	put("b", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(good + SECOND), 1);
	now_us += 40060 * SECOND;
	steady_us += 40030 * SECOND;
	good = now_us;
	put("c", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(good), 2);
	engine_hold_gc_time(store_engine(store), GC_HELD_BY_LOOK, true);
	true_tick();
	now_us += 30 * SECOND;
	steady_us += 30 * SECOND;
	true_tick();
	engine_hold_gc_time(store_engine(store), GC_HELD_BY_LOOK, false);
	good = now_us;
	put("d", "g", 1000, "1");
	true_tick();
	ck_assert_int_eq(seen(good), 3);
}
END_TEST

/* What was closed is known up to then, and up to the next opening, though that
 * one is killed; also when edits are begun anew. */
START_TEST(a_gap_begins_when_what_was_there_is_known)
{
	struct store_options o;
	struct volume *v = store->volume;
	uint64_t opened;
	struct store *s;

	put("a", "g", 1000, "1");
	tick();
	now_us += 100 * SECOND;
	volume_mem_keep(v);
	ck_assert_int_eq(store_close(store), 0);
	opened = now_us += 1000 * SECOND;
	history_options(&o);
	ck_assert_int_eq(store_open_volume(v, &o, &store), 0);
	now_us += 30 * SECOND;
	write_put("b", "g", 1000, "1", true);
	now_us += SECOND;
	s = killed(false);
	ck_assert_int_eq(seen_of(s, opened - 1000 * SECOND), 1);
	ck_assert_int_eq(seen_of(s, opened), 1);
	ck_assert_int_eq(seen_of(s, opened + 1), -ERR_no_moment);
	ck_assert_int_eq(seen_of(s, now_us - 1), -ERR_no_moment);
	ck_assert_ptr_nonnull(strstr(err_detail(), "1970-01-12T14:05:01"));
	ck_assert_int_eq(store_close(store), 0);
	store = s;
	now_us += SECOND;
	put("c", "g", 1000, "1");
	tick();
	settle();
	s = killed(false);
	ck_assert_int_eq(seen_of(s, opened), 1);
	ck_assert_int_eq(seen_of(s, opened + 1), -ERR_no_moment);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

/* What is closed has none, however long ago it was. */
START_TEST(no_gap_after_a_close)
{
	struct store_options o;
	struct volume *v = store->volume;
	uint64_t last;

	put("a", "g", 1000, "1");
	tick();
	now_us += 100 * SECOND;
	put("b", "g", 1000, "1");
	last = now_us += SECOND;
	volume_mem_keep(v);
	ck_assert_int_eq(store_close(store), 0);
	now_us += 1000 * SECOND;
	history_options(&o);
	ck_assert_int_eq(store_open_volume(v, &o, &store), 0);
	ck_assert_int_eq(seen(last - SECOND), 1);
	ck_assert_int_eq(seen(last), 2);
	ck_assert_int_eq(seen(last + 500 * SECOND), 2);
	ck_assert_int_eq(seen(now_us), 2);
}
END_TEST

/* A store that is written to tells of each minute, though none is flushed. */
START_TEST(moments_are_told_each_minute)
{
	struct store *s;
	char row[8];
	int i;

	tick();
	settle();
	for (i = 0; i < 200; i++) {
		snprintf(row, sizeof(row), "%d", i);
		write_put(row, "g", 1000, "1", true);
		now_us += SECOND;
		engine_tick(store_engine(store));
		while (engine_step(store_engine(store)) > 0)
			;
	}
	s = killed(false);
	ck_assert_int_eq(seen_of(s, now_us - 100 * SECOND), 100);
	ck_assert_int_ge(seen_of(s, now_us - 61 * SECOND), 139);
	ck_assert_int_eq(seen_of(s, now_us - SECOND / 2), -ERR_no_moment);
	ck_assert_int_eq(store_close(s), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_gap_after_a_kill_is_told,
		a_clock_that_was_ahead_makes_a_gap,
		a_clock_that_was_ahead_of_nothing,
		a_clock_that_was_ahead_says_nothing,
		a_clock_that_was_set_back_while_closed,
		a_clock_that_was_ahead_when_opened,
		a_clock_that_is_a_little_wrong,
		a_gap_begins_when_what_was_there_is_known,
		no_gap_after_a_close,
		moments_are_told_each_minute,
	};

	return run_suite("history_gaps", set_up, tear_down, tests, 10);
}
