#include "store/engine/history/moments.h"
#include "tests/unit/suite.h"

/* Which moments stay: pure functions over lists. */

#define SECOND UINT64_C(1000000)
#define START (1000000 * SECOND)
#define DAY (86400 * SECOND)

static struct moments *list;

static void set_up(void)
{
	ck_assert_int_eq(moments_new(NULL, 0, &list), 0);
}

static void tear_down(void)
{
	moments_put(list);
}

/* Goes on to time_us, with a moment of this sequence, or 0: none; seen_us was
 * seen to go by. */
static void step_seen(uint64_t time_us, uint64_t seen_us, uint64_t seq,
		      uint64_t window_us)
{
	struct moment fresh = { time_us, seq, 7, 0, 0 };
	struct moments *next;

	ck_assert_int_eq(moments_next(list, seq ? &fresh : NULL, time_us,
				      seen_us, window_us, NULL, 0, &next),
			 0);
	moments_put(list);
	list = next;
}

static void step(uint64_t time_us, uint64_t seq, uint64_t window_us)
{
	step_seen(time_us, 0, seq, window_us);
}

START_TEST(seconds_become_minutes)
{
	uint64_t i;

	for (i = 0; i < 1800; i++)
		step(START + i * SECOND, i + 1, DAY);
	/* Ten minutes of seconds, and one of each minute before. */
	ck_assert_uint_ge(list->count, 600 + 20);
	ck_assert_uint_le(list->count, 601 + 22);
	for (i = 1; i < list->count; i++)
		ck_assert_uint_lt(list->items[i - 1].seq, list->items[i].seq);
	/* The last of a minute is the one that stays, and a whole one. */
	ck_assert_uint_eq(list->items[1].time_us % (60 * SECOND), 0);
	ck_assert_uint_eq(list->items[list->count - 1].seq, 1800);
}
END_TEST

/* What stays for its reader alone does not answer for what came after it. */
START_TEST(one_that_is_read_stays_for_its_reader)
{
	const uint64_t held[] = { 1 };
	struct moments *next;

	step(START, 1, 60 * SECOND);
	step(START + 10 * SECOND, 2, 60 * SECOND);
	step(START + 20 * SECOND, 3, 60 * SECOND);
	ck_assert_int_eq(moments_next(list, NULL, START + 75 * SECOND, 0,
				      60 * SECOND, held, 1, &next),
			 0);
	ck_assert_uint_eq(next->count, 3);
	ck_assert_uint_eq(moments_oldest(next)->seq, 2);
	ck_assert_ptr_null(moments_at(next, START + 5 * SECOND));
	ck_assert_uint_eq(moments_at(next, START + 15 * SECOND)->seq, 2);
	moments_put(next);
	ck_assert_int_eq(moments_next(list, NULL, START + 200 * SECOND, 0,
				      60 * SECOND, held, 1, &next),
			 0);
	ck_assert_uint_eq(next->count, 2);
	ck_assert_uint_eq(moments_first(next), 1);
	ck_assert_uint_eq(moments_oldest(next)->seq, 3);
	ck_assert_ptr_null(moments_at(next, START + 15 * SECOND));
	ck_assert_uint_eq(moments_at(next, START)->seq, 1);
	ck_assert_uint_eq(moments_at(next, START + 20 * SECOND)->seq, 3);
	moments_put(next);
}
END_TEST

/* A time within the ten minutes has its moment, though that is older. */
START_TEST(ten_minutes_begin_before_them)
{
	uint64_t minute = START + 20 * SECOND;

	step(minute + SECOND, 1, DAY);
	step(minute + 30 * SECOND, 2, DAY);
	step(minute + 620 * SECOND, 3, DAY);
	ck_assert_uint_eq(moments_at(list, minute + 25 * SECOND)->seq, 1);
	step(minute + 640 * SECOND, 4, DAY);
	ck_assert_ptr_null(moments_at(list, minute + 25 * SECOND));
}
END_TEST

START_TEST(each_time_of_the_window_has_one)
{
	uint64_t now, i;

	for (i = 0; i < 500; i++)
		step(START + i * 60 * SECOND, i + 1, 3600 * SECOND);
	now = START + 499 * 60 * SECOND;
	ck_assert_ptr_nonnull(moments_at(list, now - 3600 * SECOND));
	ck_assert_ptr_null(moments_at(list, now - 3600 * SECOND - 61 * SECOND));
	/* Nothing changes: the last one stays, however old. */
	for (i = 0; i < 23; i++)
		step(now + i * 3600 * SECOND, 0, 3600 * SECOND);
	ck_assert_uint_eq(list->count, 1);
	ck_assert_uint_eq(moments_first(list), 500);
}
END_TEST

START_TEST(a_clock_that_jumps_takes_nothing)
{
	uint64_t i, years = 3650 * DAY;

	for (i = 0; i < 100; i++)
		step(START + i * SECOND, i + 1, DAY);
	step(START + years, 101, DAY);
	ck_assert_uint_eq(list->count, 101);
	step(START + years + SECOND, 102, DAY);
	ck_assert_uint_eq(moments_first(list), 1);
	/* But time that goes by does. */
	for (i = 0; i < 26; i++)
		step(START + years + i * 3600 * SECOND + 2 * SECOND, 103 + i,
		     DAY);
	ck_assert_uint_gt(moments_first(list), 100);
}
END_TEST

/* A day that was seen to go by is one, however rarely something is written. */
START_TEST(time_that_goes_by_counts)
{
	uint64_t week = 7 * DAY, i;

	for (i = 0; i < 4; i++) {
		step(START + i * week, 2 * i + 1, DAY);
		step(START + i * week + SECOND, 2 * i + 2, DAY);
	}
	ck_assert_uint_eq(moments_first(list), 1);
	/* Nothing is written, and the store is open. */
	step_seen(START + 3 * week + 20 * DAY, 20 * DAY - SECOND, 0, 21 * DAY);
	ck_assert_uint_eq(moments_first(list), 2);
	step_seen(START + 3 * week + 22 * DAY, 22 * DAY - SECOND, 0, 21 * DAY);
	ck_assert_uint_eq(moments_first(list), 8);
	/* The next one knows, though the clock that nobody sets is new. */
	step_seen(START + 9 * week, 6 * week - SECOND, 9, 50 * DAY);
	ck_assert_uint_eq(moments_first(list), 8);
	ck_assert_uint_eq(list->items[1].flags, MOMENT_PASSED);
	step(START + 9 * week + SECOND, 10, 10 * DAY);
	ck_assert_uint_eq(moments_first(list), 8);
	for (i = 1; i < 12; i++)
		step(START + 9 * week + i * DAY / 2 + SECOND, 10 + i, 5 * DAY);
	ck_assert_uint_gt(moments_first(list), 9);
	/* But not what a clock says that is set forward. */
	step_seen(START + 90 * week, DAY, 100, 5 * DAY);
	ck_assert_uint_eq(list->items[list->count - 1].flags, 0);
	ck_assert_uint_gt(list->count, 2);
}
END_TEST

/* Whoever reads between them has to be told that there is one. */
START_TEST(both_ends_of_a_gap_stay)
{
	const struct moment ends[] = { { START, 1, 7, 0, 0 },
				       { START + SECOND, 2, 7, 0, 0 },
				       { START + 3 * SECOND, 3, 7,
					 MOMENT_AFTER_GAP, 0 },
				       { START + 4 * SECOND, 4, 7, 0, 0 },
				       { START + 5 * SECOND, 5, 7, 0, 0 } };

	moments_put(list);
	ck_assert_int_eq(moments_new(ends, 5, &list), 0);
	step(START + 3600 * SECOND, 6, DAY);
	ck_assert_uint_eq(list->count, 4);
	ck_assert_uint_eq(list->items[0].seq, 2);
	ck_assert_uint_eq(list->items[1].seq, 3);
	ck_assert_uint_eq(list->items[1].flags, MOMENT_AFTER_GAP);
	ck_assert_uint_eq(list->items[2].seq, 5);
}
END_TEST

START_TEST(what_is_held_stays)
{
	const uint64_t held[] = { 3 };
	struct moments *next;
	uint64_t i;

	for (i = 0; i < 10; i++)
		step(START + i * SECOND, i + 1, DAY);
	ck_assert_int_eq(moments_next(list, NULL, START + 3600 * SECOND, 0,
				      60 * SECOND, held, 1, &next),
			 0);
	ck_assert_uint_eq(next->count, 2);
	ck_assert_uint_eq(next->items[0].seq, 3);
	ck_assert_uint_eq(next->items[1].seq, 10);
	moments_put(next);
}
END_TEST

START_TEST(they_are_found)
{
	step(START, 5, DAY);
	step(START + SECOND, 9, DAY);
	ck_assert_ptr_null(moments_at(list, START - 1));
	ck_assert_uint_eq(moments_at(list, START)->seq, 5);
	ck_assert_uint_eq(moments_at(list, START + SECOND - 1)->seq, 5);
	ck_assert_uint_eq(moments_at(list, UINT64_MAX)->seq, 9);
	ck_assert_uint_eq(moment_from(list->items, 2, 0)->seq, 5);
	ck_assert_uint_eq(moment_from(list->items, 2, 5)->seq, 5);
	ck_assert_uint_eq(moment_from(list->items, 2, 6)->seq, 9);
	ck_assert_ptr_null(moment_from(list->items, 2, 10));
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		seconds_become_minutes,
		one_that_is_read_stays_for_its_reader,
		ten_minutes_begin_before_them,
		each_time_of_the_window_has_one,
		a_clock_that_jumps_takes_nothing,
		time_that_goes_by_counts,
		both_ends_of_a_gap_stay,
		what_is_held_stays,
		they_are_found,
	};

	return run_suite("moments", set_up, tear_down, tests, 9);
}
