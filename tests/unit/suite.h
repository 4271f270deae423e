#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

/*
 * The end of a unit test's main function: runs tests as one Check suite and
 * gives the exit status.
 *
 *	int main(void)
 *	{
 *		const TTest *tests[] = { first_test, second_test };
 *
 *		return run_suite("name", setup, teardown, tests, 2);
 *	}
 */
#include <check.h>
#include <stdlib.h>

/* An old name of Check's, which is a function of the project's. */
#undef fail

/* setup and teardown run around each test and may be NULL. A test may take a
 * minute, since sanitizers are slow. */
static inline int run_tests(const char *name, void (*setup)(void),
			    void (*teardown)(void), const TTest *const *tests,
			    size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner = srunner_create(suite);
	size_t i;
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_set_timeout(tcase, 600);
	if (setup || teardown)
		tcase_add_checked_fixture(tcase, setup, teardown);
	for (i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* tests is an array: with a count that leaves one of it out, which would never
 * be run, this does not compile. */
#define run_suite(name, setup, teardown, tests, count)                        \
	run_tests(name, setup, teardown, tests,                               \
		  (count) +                                                   \
			  0 * sizeof(struct {                                 \
				  _Static_assert(                             \
					  sizeof(tests) ==                    \
						  (count) * sizeof(*(tests)), \
					  "the count is not that of tests");  \
				  char member;                                \
			  }))

#endif
