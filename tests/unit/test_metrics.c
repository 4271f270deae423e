#include <linux/fuse.h>
#include <string.h>

#include "fs/state/metrics.h"
#include "tests/unit/suite.h"

/* How often needle is in text. */
static size_t occurrences(const char *text, const char *needle)
{
	size_t n = 0;

	while ((text = strstr(text, needle))) {
		text++;
		n++;
	}
	return n;
}

/* Two series of one name and label make a text that Prometheus refuses. */
START_TEST(kinds_without_a_name_are_one)
{
	static struct metrics m;
	struct buf out = BUF_INIT;

	metrics_count(&m, FUSE_LOOKUP, metrics_now_ns());
	metrics_count(&m, FUSE_GETLK, metrics_now_ns());
	metrics_count(&m, FUSE_SETLK, metrics_now_ns());
	metrics_count(&m, 1000, metrics_now_ns());
	ck_assert_int_eq(metrics_print(&m, &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_uint_eq(occurrences((char *)out.data,
				      "_count{operation=\"lookup\"} 1\n"),
			  1);
	ck_assert_uint_eq(
		occurrences((char *)out.data, "_count{operation=\"other\"}"),
		1);
	ck_assert_uint_eq(occurrences((char *)out.data,
				      "_count{operation=\"other\"} 3\n"),
			  1);
	buf_release(&out);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { kinds_without_a_name_are_one };

	return run_suite("metrics", NULL, NULL, tests, 1);
}
