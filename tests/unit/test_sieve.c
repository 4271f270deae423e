#include <stdlib.h>

#include "store/engine/compact/sieve.h"
#include "tests/unit/suite.h"

/*
 * Which versions of a column the sieve drops by a rule that keeps two of them.
 * Writes are told by digits, which are their timestamps; the first one has
 * sequence 1, and the present is behind the last.
 */
#define POINTS_MAX 4
#define WRITES_MAX 16

static struct gc_policy two = { .type = GC_MAX_VERSIONS, .limit = 2 };
static struct gc_family family = { .policy = &two };
static struct gc_table table = { .id = 1,
				 .families = &family,
				 .family_count = 1 };
static struct gc_rules rules = { .tables = &table, .table_count = 1 };
static const struct tombstone_list no_tombstones;
static uint64_t points[POINTS_MAX], times[POINTS_MAX];
static struct merge_context context;

/* Nobody has a snapshot, and there is no deletion elsewhere. */
static void set_up(void)
{
	family.name = bytes_string("f");
	family.rules_seq = 0;
	context = (struct merge_context){
		.rules = &rules,
		.snapshots = points,
		.snapshot_us = times,
		.rules_seq = UINT64_MAX,
		.above_seq = UINT64_MAX,
		.above_us = UINT64_MAX,
	};
}

/* Somebody sees what has no later sequence. */
static void hold(uint64_t seq)
{
	points[context.snapshot_count++] = seq;
}

static int compare(const void *a, const void *b)
{
	const struct buf *x = a, *y = b;

	return bytes_compare(buf_bytes(x), buf_bytes(y));
}

/* The sequences of what goes on, as digits, in the order of keys. */
static const char *left(const char *digits)
{
	static char out[WRITES_MAX + 1];
	struct buf keys[WRITES_MAX] = { BUF_INIT };
	struct sieve sieve;
	size_t count, kept = 0, i;

	for (count = 0; digits[count]; count++) {
		struct buf *key = &keys[count];
		uint64_t timestamp = (uint64_t)(digits[count] - '0');

		ck_assert_int_eq(key_add_table(key, 1), 0);
		ck_assert_int_eq(key_add_part(key, bytes_string("r")), 0);
		ck_assert_int_eq(key_add_part(key, bytes_string("f")), 0);
		ck_assert_int_eq(key_add_part(key, bytes_string("q")), 0);
		ck_assert_int_eq(key_add_timestamp(key, timestamp), 0);
		ck_assert_int_eq(key_add_trailer(key, count + 1, KEY_PUT), 0);
	}
	qsort(keys, count, sizeof(*keys), compare);
	hold(count);
	sieve_init(&sieve, &context, &no_tombstones, NULL, 0);
	for (i = 0; i < count; i++) {
		struct bytes key = buf_bytes(&keys[i]);

		if (sieve_entry(&sieve, key) == SIEVE_KEEP)
			out[kept++] = (char)('0' + key_seq(key));
		buf_release(&keys[i]);
	}
	out[kept] = '\0';
	sieve_release(&sieve);
	return out;
}

/* A version that such a deletion hides would be counted, and one that is seen
 * dropped in its place. */
START_TEST(a_rule_waits_for_older_deletions)
{
	family.rules_seq = 10;
	context.above_seq = 9;
	ck_assert_str_eq(left("123"), "321");
	set_up();
	family.rules_seq = context.above_seq = 10;
	ck_assert_str_eq(left("123"), "32");
	set_up();
	family.rules_seq = 10;
	ck_assert_str_eq(left("123"), "32");
}
END_TEST

/* The newest was put after it: of the other two it may have deleted one. */
START_TEST(what_is_newer_than_a_deletion_elsewhere_does_not_count)
{
	context.above_seq = 3;
	ck_assert_str_eq(left("123"), "321");
	set_up();
	context.above_seq = 4;
	ck_assert_str_eq(left("123"), "32");
}
END_TEST

/* Of what came after a snapshot the rule keeps what it would without. */
START_TEST(versions_count_for_each_reader)
{
	hold(1);
	ck_assert_str_eq(left("123456"), "651");
	set_up();
	hold(3);
	ck_assert_str_eq(left("123456"), "6532");
	set_up();
	hold(1);
	hold(4);
	ck_assert_str_eq(left("123456"), "65431");
	set_up();
	hold(1);
	hold(6);
	ck_assert_str_eq(left("123456"), "651");
}
END_TEST

START_TEST(nor_do_they_behind_a_deletion_for_who_came_later)
{
	hold(0);
	context.above_seq = 4;
	ck_assert_str_eq(left("123456"), "65432");
}
END_TEST

/* Of the newest the reader sees the first write, and the present the second. */
START_TEST(a_version_counts_once)
{
	hold(1);
	ck_assert_str_eq(left("3321"), "213");
}
END_TEST

/* Who has a snapshot goes by what was before; who comes now, by the rule. */
START_TEST(a_new_rule_is_for_what_no_older_reader_sees)
{
	family.rules_seq = 4;
	context.rules_seq = 3;
	hold(3);
	ck_assert_str_eq(left("123456"), "65321");
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		a_rule_waits_for_older_deletions,
		what_is_newer_than_a_deletion_elsewhere_does_not_count,
		versions_count_for_each_reader,
		nor_do_they_behind_a_deletion_for_who_came_later,
		a_version_counts_once,
		a_new_rule_is_for_what_no_older_reader_sees,
	};

	return run_suite("sieve", set_up, NULL, tests,
			 sizeof(tests) / sizeof(*tests));
}
