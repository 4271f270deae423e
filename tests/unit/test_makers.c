#include "fs/state/makers.h"
#include "tests/unit/suite.h"

static struct makers makers;

static void setup(void)
{
	makers_init(&makers);
}

static void teardown(void)
{
	makers_release(&makers);
}

START_TEST(what_is_set_is_found)
{
	/* All of one place in the tables. */
	const uint64_t last = 2 * MAKERS_MAX - 1, step = 2 * MAKERS_MAX;
	uint64_t i;

	ck_assert_uint_eq(makers_get(&makers, 5), 0);
	makers_set(&makers, 5, 0);
	ck_assert_ptr_null(makers.young);
	for (i = 0; i < 5; i++)
		makers_set(&makers, last + i * step, 100 + i);
	makers_set(&makers, last + step, 0);
	makers_set(&makers, last + 2 * step, 7);
	ck_assert_uint_eq(makers_get(&makers, last), 100);
	ck_assert_uint_eq(makers_get(&makers, last + step), 0);
	ck_assert_uint_eq(makers_get(&makers, last + 2 * step), 7);
	ck_assert_uint_eq(makers_get(&makers, last + 4 * step), 104);
	ck_assert_uint_eq(makers_get(&makers, last + 5 * step), 0);
}
END_TEST

START_TEST(renames_move_it)
{
	makers_set(&makers, 1, 10);
	makers_set(&makers, 2, 20);
	makers_move(&makers, 1, 2, true);
	ck_assert_uint_eq(makers_get(&makers, 1), 20);
	ck_assert_uint_eq(makers_get(&makers, 2), 10);
	makers_move(&makers, 2, 1, false);
	ck_assert_uint_eq(makers_get(&makers, 1), 10);
	ck_assert_uint_eq(makers_get(&makers, 2), 0);
	makers_move(&makers, 3, 1, false);
	ck_assert_uint_eq(makers_get(&makers, 1), 0);
}
END_TEST

/* Of many the newest are known, and who is asked for is not forgotten; in
 * bounded memory. */
START_TEST(the_oldest_go_first)
{
	const uint64_t count = 10 * MAKERS_MAX;
	uint64_t i;

	for (i = 1; i <= count; i++) {
		makers_set(&makers, i, i + 1);
		ck_assert_uint_eq(makers_get(&makers, 1), 2);
		ck_assert_uint_le(makers.count, MAKERS_MAX);
	}
	ck_assert_uint_eq(makers_get(&makers, 2), 0);
	for (i = count - MAKERS_MAX / 2; i <= count; i++)
		ck_assert_uint_eq(makers_get(&makers, i), i + 1);
	/* Also what is nobody's any more, as the old generation has another. */
	makers_set(&makers, 1, 0);
	ck_assert_uint_eq(makers_get(&makers, 1), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { what_is_set_is_found, renames_move_it,
				 the_oldest_go_first };

	return run_suite("makers", setup, teardown, tests, 3);
}
