#include <stdio.h>

#include "store/store.h"
#include "tests/sim/volume_mem.h"
#include "tests/unit/small_store.h"
#include "tests/unit/suite.h"

/*
 * What a reader that pauses keeps of what others write meanwhile: of what came
 * after it no more than the family's rule would without it. A store without a
 * background, whose clock goes by hand.
 */
#define VALUE_SIZE 4096
#define WRITES 1000
#define DAY UINT64_C(86400000000)

static struct volume *volume;
static struct store *store;
static uint64_t now_us;

static uint64_t now(void *context)
{
	(void)context;
	return now_us;
}

static const struct clock by_hand = { .now = now };

static void set_up(void)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	struct gc_policy *aged = gc_policy_leaf(GC_MAX_AGE, DAY);
	struct family_spec families[] = {
		{ .name = BYTES_LITERAL("aged"), .gc = aged },
		{ .name = BYTES_LITERAL("all") },
		{ .name = BYTES_LITERAL("one"), .gc = one },
	};
	struct store_options options;

	now_us = 100 * DAY;
	small_store_options(&options);
	options.clock = &by_hand;
	options.blob_threshold = 64 << 10;
	ck_assert_int_eq(volume_mem_new(&volume), 0);
	ck_assert_int_eq(store_open_volume(volume, &options, &store), 0);
	ck_assert_int_eq(store_create_table(store, bytes_string("t"), false,
					    families, 3),
			 0);
	gc_policy_free(one);
	gc_policy_free(aged);
}

static void tear_down(void)
{
	ck_assert_int_eq(store_close(store), 0);
}

static void compact(void)
{
	ck_assert_int_eq(store_compact(store, bytes_string("t")), 0);
}

/* A version of the one column, of bytes that do not repeat, a second after the
 * one before. */
static void put(const char *family)
{
	static uint32_t state = 1;
	uint8_t data[VALUE_SIZE];
	struct write *w;
	size_t i;

	for (i = 0; i < sizeof(data); i++) {
		state = state * 1664525 + 1013904223;
		data[i] = (uint8_t)(state >> 24);
	}
	now_us += 1000000;
	ck_assert_int_eq(write_new(store, &w), 0);
	ck_assert_int_eq(write_row(w, BYTES_LITERAL("t"), BYTES_LITERAL("r")),
			 0);
	ck_assert_int_eq(write_set(w, bytes_string(family), BYTES_LITERAL("q"),
				   now_us, bytes_of(data, sizeof(data))),
			 0);
	ck_assert_int_eq(store_commit(store, w, false), 0);
	write_free(w);
	small_store_work(store);
}

static void put_some(const char *family, unsigned int count)
{
	while (count-- > 0)
		put(family);
}

static void put_many(const char *family)
{
	put_some(family, WRITES);
}

static struct snapshot *hold(void)
{
	struct snapshot *s;

	ck_assert_int_eq(store_snapshot(store, &s), 0);
	return s;
}

/* The timestamp of the newest version that is seen; 0: there is none. Of how
 * many: *count. */
static uint64_t look(struct snapshot *s, unsigned int *count)
{
	struct scan_range range = { .table = BYTES_LITERAL("t") };
	uint64_t newest = 0;
	struct scan *scan;
	struct cell cell;

	*count = 0;
	ck_assert_int_eq(scan_open(store, s, &range, &scan), 0);
	while (scan_next(scan, CURSOR_VERSION, &cell) == 1)
		if ((*count)++ == 0)
			newest = cell.timestamp_us;
	scan_close(scan);
	return newest;
}

static void sees(struct snapshot *s, uint64_t newest, unsigned int count)
{
	unsigned int n;

	ck_assert_uint_eq(look(s, &n), newest);
	ck_assert_uint_eq(n, count);
}

/* At most so many values are in files. */
static void at_most(unsigned int values)
{
	ck_assert_uint_lt(small_store_sst_bytes(store),
			  (values + 1) * VALUE_SIZE);
}

START_TEST(what_came_after_a_reader_goes)
{
	struct snapshot *reader;
	uint64_t first;

	put("one");
	first = now_us;
	reader = hold();
	put_many("one");
	compact();
	at_most(2);
	sees(reader, first, 1);
	sees(NULL, now_us, 1);
	store_snapshot_release(store, reader);
}
END_TEST

/* Others come and go, so that there is always one who has just come. */
START_TEST(what_came_before_another_goes)
{
	struct snapshot *reader, *other = NULL;
	unsigned int i;
	uint64_t first, last;

	put("one");
	first = now_us;
	reader = hold();
	for (i = 0; i < WRITES; i++) {
		put("one");
		store_snapshot_release(store, other);
		other = hold();
	}
	last = now_us;
	put("one");
	compact();
	at_most(3);
	sees(reader, first, 1);
	sees(other, last, 1);
	sees(NULL, now_us, 1);
	store_snapshot_release(store, other);
	store_snapshot_release(store, reader);
}
END_TEST

/* Without that who had come before would lack anything. */
START_TEST(what_has_expired_since_goes)
{
	struct snapshot *reader;
	uint64_t first;

	put("aged");
	first = now_us;
	reader = hold();
	put_many("aged");
	now_us += DAY + 1;
	put("aged");
	compact();
	at_most(2);
	sees(reader, first, 1);
	sees(NULL, now_us, 1);
	store_snapshot_release(store, reader);
}
END_TEST

/* Nobody asks for it; and what does not age beside it is left alone then. */
START_TEST(what_has_expired_since_goes_by_itself)
{
	struct snapshot *reader;
	uint64_t compacted;

	put("one");
	reader = hold();
	put_many("aged");
	put_some("all", 20);
	small_store_flush(store);
	now_us += DAY + 1;
	small_store_wait(store, 10);
	at_most(22);
	compacted = small_store_stats(store).compacted_size;
	now_us += DAY;
	small_store_wait(store, 10);
	ck_assert_uint_eq(small_store_stats(store).compacted_size, compacted);
	store_snapshot_release(store, reader);
}
END_TEST

/* The time up to which things have gone is kept with the files: no crash takes
 * it back. */
START_TEST(what_has_expired_stays_so)
{
	struct snapshot *reader = hold();

	put("aged");
	now_us += DAY + 1;
	compact();
	at_most(0);
	ck_assert_uint_ge(store_engine(store)->manifest->gc_time_us, now_us);
	store_snapshot_release(store, reader);
}
END_TEST

/* Who reads by the rules of before keeps what came before it alone. */
START_TEST(a_rule_that_is_newer_than_a_reader)
{
	struct gc_policy *one = gc_policy_leaf(GC_MAX_VERSIONS, 1);
	struct snapshot *reader;
	uint64_t first;

	put("all");
	put("all");
	first = now_us;
	reader = hold();
	ck_assert_int_eq(store_set_gc(store, BYTES_LITERAL("t"),
				      BYTES_LITERAL("all"), one),
			 0);
	gc_policy_free(one);
	put_many("all");
	compact();
	at_most(3);
	sees(reader, first, 2);
	sees(NULL, now_us, 1);
	store_snapshot_release(store, reader);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		what_came_after_a_reader_goes,
		what_came_before_another_goes,
		what_has_expired_since_goes,
		what_has_expired_since_goes_by_itself,
		what_has_expired_stays_so,
		a_rule_that_is_newer_than_a_reader,
	};

	return run_suite("readers", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
