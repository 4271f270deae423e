#include <stdio.h>

#include "store/engine/core/gaps.h"
#include "tests/unit/suite.h"

/*
 * Gaps without an engine: keys are version keys as short as they can be, and a
 * run is told of as many dead entries as make a gap.
 */
static struct gaps gaps;
static struct gc_rules *rules = (struct gc_rules *)&gaps; /* only compared */

static void set_up(void)
{
	gaps_init(&gaps, 1);
	gaps_set_rules(&gaps, rules);
	atomic_store(&gaps.begun_seq, 10);
}

static void tear_down(void)
{
	gaps_release(&gaps);
}

static struct gap_run run_at(uint64_t seq, uint64_t gc_time_us)
{
	return (struct gap_run){ .gaps = &gaps,
				 .rules = rules,
				 .seq = seq,
				 .gc_time_us = gc_time_us };
}

/* Where a reader of this moment that meets what is dead at key is led, or "-".
 */
static const char *led(uint64_t seq, uint64_t gc_time_us, const char *key)
{
	static char text[64];
	struct gap_run r = run_at(seq, gc_time_us);
	struct bytes to;

	snprintf(text, sizeof(text), "-");
	if (gap_run_pass(&r, bytes_string(key), &to))
		snprintf(text, sizeof(text), "%.*s", (int)to.size, to.data);
	gap_run_release(&r);
	return text;
}

static void begin(struct gap_run *r, const char *start)
{
	struct bytes to;
	int i;

	for (i = 0; i < 4; i++)
		gap_run_pass(r, bytes_string(start), &to);
}

/* A reader passes from start on what is dead up to next. */
static void walk(uint64_t seq, const char *start, const char *next)
{
	struct gap_run r = run_at(seq, 100);

	begin(&r, start);
	gap_run_end(&r, bytes_string(next));
	gap_run_release(&r);
}

static void put(const char *key, uint64_t seq)
{
	struct batch b = BATCH_INIT;

	ck_assert_int_eq(batch_put(&b, bytes_string(key), BYTES_NONE), 0);
	gaps_note_batch(&gaps, &b, seq);
	batch_release(&b);
}

START_TEST(a_run_is_passed_once)
{
	ck_assert_str_eq(led(10, 100, "b"), "-");
	walk(10, "b", "f");
	ck_assert_str_eq(led(10, 100, "b"), "f");
	ck_assert_str_eq(led(10, 100, "ez"), "f");
	ck_assert_str_eq(led(10, 100, "az"), "-");
	ck_assert_str_eq(led(10, 100, "f"), "-");
	/* To the end of all keys. */
	walk(10, "x", "");
	ck_assert_str_eq(led(10, 100, "y"), "");
}
END_TEST

START_TEST(earlier_readers_are_not_led)
{
	walk(10, "b", "f");
	ck_assert_str_eq(led(9, 100, "c"), "-");
	ck_assert_str_eq(led(10, 99, "c"), "-");
	ck_assert_str_eq(led(11, 101, "c"), "f");
	gaps_set_rules(&gaps, NULL);
	ck_assert_str_eq(led(11, 101, "c"), "-");
}
END_TEST

START_TEST(a_put_cuts_a_gap)
{
	walk(10, "b", "f");
	put("d", 11);
	ck_assert_str_eq(led(11, 100, "c"), "d");
	ck_assert_str_eq(led(11, 100, "d"), "-");
	ck_assert_str_eq(led(11, 100, "e"), "f");
	/* What comes before or after it is none of its business. */
	put("a", 12);
	put("f", 13);
	ck_assert_str_eq(led(13, 100, "c"), "d");
	ck_assert_uint_eq(gaps.count, 2);
}
END_TEST

START_TEST(deletions_cut_nothing)
{
	struct batch b = BATCH_INIT;

	walk(10, "b", "f");
	ck_assert_int_eq(batch_delete(&b, BYTES_LITERAL("d")), 0);
	ck_assert_int_eq(
		batch_delete_range(&b, BYTES_LITERAL("c"), BYTES_LITERAL("e")),
		0);
	gaps_note_batch(&gaps, &b, 12);
	batch_release(&b);
	ck_assert_str_eq(led(12, 100, "c"), "f");
}
END_TEST

START_TEST(gaps_that_touch_are_one)
{
	walk(10, "b", "d");
	walk(10, "h", "k");
	walk(10, "d", "f");
	ck_assert_str_eq(led(10, 100, "b"), "f");
	ck_assert_uint_eq(gaps.count, 2);
	walk(10, "c", "m");
	ck_assert_str_eq(led(10, 100, "b"), "m");
	ck_assert_uint_eq(gaps.count, 1);
}
END_TEST

/* What is written while a reader walks ends what it may note. */
START_TEST(a_put_shortens_a_walk)
{
	struct gap_run r = run_at(10, 100);

	begin(&r, "b");
	put("d", 11);
	put("e", 12);
	gap_run_end(&r, BYTES_LITERAL("k"));
	gap_run_release(&r);
	ck_assert_str_eq(led(12, 100, "b"), "d");
	ck_assert_str_eq(led(12, 100, "f"), "-");
}
END_TEST

/* A reader of a moment that has passed knows nothing of what came since. */
START_TEST(late_walks_note_nothing)
{
	walk(9, "b", "f");
	ck_assert_str_eq(led(10, 100, "b"), "-");
	ck_assert_uint_eq(atomic_load(&gaps.active), 0);
}
END_TEST

START_TEST(loads_end_all)
{
	struct gap_run r = run_at(10, 100);

	walk(10, "b", "f");
	begin(&r, "s");
	gaps_note_any(&gaps, 11);
	gap_run_end(&r, BYTES_LITERAL("t"));
	gap_run_release(&r);
	ck_assert_str_eq(led(11, 100, "c"), "-");
	ck_assert_str_eq(led(11, 100, "s"), "-");
	ck_assert_uint_eq(atomic_load(&gaps.active), 0);
}
END_TEST

START_TEST(dropped_walks_note_nothing)
{
	struct gap_run r = run_at(10, 100);

	begin(&r, "b");
	gap_run_drop(&r);
	gap_run_release(&r);
	ck_assert_str_eq(led(10, 100, "b"), "-");
}
END_TEST

/* The ones that are used stay. */
START_TEST(there_are_only_so_many)
{
	char start[8], next[8];
	unsigned int i;

	for (i = 0; i < 3 * GAPS_MAX; i++) {
		snprintf(start, sizeof(start), "k%04u", 2 * i);
		snprintf(next, sizeof(next), "k%04u", 2 * i + 1);
		walk(10, start, next);
		ck_assert_str_eq(led(10, 100, "k0000"), "k0001");
		ck_assert_str_eq(led(10, 100, start), next);
	}
	ck_assert_uint_eq(gaps.count, GAPS_MAX);
	/* A cut makes two of one. */
	walk(10, "m", "p");
	put("n", 11);
	ck_assert_uint_eq(gaps.count, GAPS_MAX);
	ck_assert_str_eq(led(11, 100, "m"), "n");
	ck_assert_str_eq(led(11, 100, "o"), "p");
}
END_TEST

START_TEST(long_keys_make_none)
{
	char key[GAP_KEY_MAX + 2];

	memset(key, 'b', sizeof(key));
	key[sizeof(key) - 1] = 0;
	walk(10, key, "f");
	ck_assert_uint_eq(gaps.count, 0);
	walk(10, "a", key);
	ck_assert_uint_eq(gaps.count, 0);
	ck_assert_uint_eq(atomic_load(&gaps.active), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_run_is_passed_once,       earlier_readers_are_not_led,
		a_put_cuts_a_gap,           deletions_cut_nothing,
		gaps_that_touch_are_one,    a_put_shortens_a_walk,
		late_walks_note_nothing,    loads_end_all,
		dropped_walks_note_nothing, there_are_only_so_many,
		long_keys_make_none,
	};

	return run_suite("gaps", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
