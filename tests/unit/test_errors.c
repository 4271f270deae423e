#include <errno.h>
#include <string.h>

#include "fs/state/errors.h"
#include "store/base/err.h"
#include "tests/unit/suite.h"

static struct errors errors;

static void set_up(void)
{
	errors_init(&errors);
}

static void tear_down(void)
{
	errors_release(&errors);
}

static void add(uid_t uid, const char *path)
{
	err_clear();
	errors_add(&errors, bytes_string(path), -ENOENT, uid);
}

/* How many lines of uid, or of all, have this path. */
static size_t count(bool all, uid_t uid, const char *path)
{
	struct buf text = BUF_INIT;
	const char *at;
	size_t n = 0;

	ck_assert_int_eq(errors_print(&errors, all, uid, &text), 0);
	ck_assert_int_eq(buf_terminate(&text), 0);
	for (at = (const char *)text.data; (at = strstr(at, path)); at++)
		n++;
	buf_release(&text);
	return n;
}

/* Nothing of a name is lost without a sign of it. */
START_TEST(names_are_shown)
{
	static uint8_t long_name[1000];
	const char *first = err_name(BYTES_LITERAL("u\0v"));
	const char *second = err_name(BYTES_LITERAL("t\xc3\xa4"
						    "b\x1b\xc2\x9f\n"));
	const char *last;

	ck_assert_str_eq(first, "u\\x00v");
	ck_assert_str_eq(second, "t\xc3\xa4"
				 "b\\x1b\\xc2\\x9f\\x0a");
	ck_assert_str_eq(err_name(BYTES_NONE), "");
	last = err_name(bytes_of(long_name, sizeof(long_name)));
	ck_assert_str_eq(last + 4 * 64, "...");
	ck_assert_int_eq(fail(EINVAL, "%s, %s", first, last), -EINVAL);
	ck_assert_ptr_eq(strstr(err_detail(), "u\\x00v, \\x00"), err_detail());
}
END_TEST

START_TEST(each_user_sees_their_own)
{
	add(1, "/mine");
	add(2, "/theirs");
	ck_assert_uint_eq(count(false, 1, "/mine"), 1);
	ck_assert_uint_eq(count(false, 1, "/theirs"), 0);
	ck_assert_uint_eq(count(true, 0, ": No such file"), 2);
}
END_TEST

START_TEST(the_last_ones_are_kept)
{
	int i;

	add(1, "/first");
	for (i = 0; i < ERRORS_MAX - 1; i++)
		add(1, "/more");
	ck_assert_uint_eq(count(false, 1, "/first"), 1);
	add(1, "/last");
	ck_assert_uint_eq(count(false, 1, "/first"), 0);
	ck_assert_uint_eq(count(false, 1, "/last"), 1);
	ck_assert_uint_eq(count(true, 0, "/"), ERRORS_MAX);
	ck_assert_uint_eq(errors_count(&errors), ERRORS_MAX + 1);
}
END_TEST

START_TEST(a_flood_pushes_out_none_of_others)
{
	int i;

	add(2, "/theirs");
	for (i = 0; i < 3 * ERRORS_MAX; i++)
		add(1, "/flood");
	ck_assert_uint_eq(count(false, 2, "/theirs"), 1);
	/* Half of all is a share, whoever comes. */
	for (i = 0; i < 3 * ERRORS_MAX; i++)
		add(3, "/flood");
	ck_assert_uint_ge(count(false, 1, "/flood"), ERRORS_MAX / 2 - 1);
	ck_assert_uint_eq(count(true, 0, "/"), ERRORS_MAX);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		names_are_shown,
		each_user_sees_their_own,
		the_last_ones_are_kept,
		a_flood_pushes_out_none_of_others,
	};

	return run_suite("errors", set_up, tear_down, tests,
			 sizeof(tests) / sizeof(*tests));
}
