#include "store/engine/read/version_run.h"
#include "tests/unit/suite.h"

static struct buf key;

/* The key of a write of the version at this time. */
static struct bytes key_of(uint64_t timestamp, uint64_t seq)
{
	buf_reset(&key);
	ck_assert_int_eq(key_add_table(&key, 1), 0);
	ck_assert_int_eq(key_add_part(&key, bytes_string("r")), 0);
	ck_assert_int_eq(key_add_part(&key, bytes_string("f")), 0);
	ck_assert_int_eq(key_add_part(&key, bytes_string("q")), 0);
	ck_assert_int_eq(key_add_timestamp(&key, timestamp), 0);
	ck_assert_int_eq(key_add_trailer(&key, seq, KEY_MERGE), 0);
	return buf_bytes(&key);
}

/* Passes writes of one version, from the newest on, until it is to be sought;
 * returns the last one. */
static uint64_t pass(struct version_run *r, uint64_t newest, uint64_t seq,
		     struct bytes *target)
{
	uint64_t at;

	for (at = newest; at > 0; at--)
		if (version_run_pass(r, key_of(5, at), seq, target))
			return at;
	return 0;
}

/* What was seen is left for good, also what has the least sequence. */
START_TEST(past_the_version)
{
	struct version_run r = { 0 };
	struct bytes target;
	uint64_t at = pass(&r, 1000, 2000, &target);

	ck_assert_uint_gt(at, 900);
	ck_assert_int_lt(bytes_compare(key_of(5, at), target), 0);
	ck_assert_int_lt(bytes_compare(key_of(5, 0), target), 0);
	ck_assert_int_gt(bytes_compare(key_of(4, KEY_SEQ_MAX), target), 0);
	version_run_release(&r);
}
END_TEST

/* What is too new is left for the first that is not. */
START_TEST(to_what_is_visible)
{
	struct version_run r = { 0 };
	struct bytes target;
	uint64_t at = pass(&r, 1000, 300, &target);

	ck_assert_uint_gt(at, 900);
	ck_assert_int_lt(bytes_compare(key_of(5, 301), target), 0);
	ck_assert_int_ge(bytes_compare(key_of(5, 300), target), 0);
	version_run_release(&r);
}
END_TEST

/* Versions of few writes are passed by steps. */
START_TEST(versions_of_few_writes)
{
	struct version_run r = { 0 };
	struct bytes target;
	uint64_t i;

	for (i = 0; i < 1000; i++)
		ck_assert(!version_run_pass(&r, key_of(5000 - i / 4, 5000 - i),
					    9000, &target));
	r.steps = 0;
	ck_assert(pass(&r, 1000, 2000, &target) > 0);
	version_run_release(&r);
}
END_TEST

static void tear_down(void)
{
	buf_release(&key);
}

int main(void)
{
	const TTest *tests[] = { past_the_version, to_what_is_visible,
				 versions_of_few_writes };

	return run_suite("version_run", NULL, tear_down, tests, 3);
}
