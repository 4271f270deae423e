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
	static struct requests r;
	struct buf out = BUF_INIT;
	struct figures f = { .out = &out };
	const struct cost none = { 0 };
	const unsigned int kinds[] = { FUSE_LOOKUP, FUSE_GETLK, FUSE_SETLK,
				       1000 };
	size_t i;

	metrics_init(&r);
	for (i = 0; i < 4; i++) {
		requests_begin(&r, kinds[i]);
		requests_end(&r, kinds[i], 1, 1, &none);
	}
	metrics_print(&r, &f);
	ck_assert_int_eq(f.err, 0);
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
	ck_assert_uint_eq(
		occurrences((char *)out.data,
			    "requests_running{operation=\"lookup\"} 0\n"),
		1);
	buf_release(&out);
}
END_TEST

/* A bucket counts what is in those before it as well, and the last one all. */
START_TEST(buckets_add_up)
{
	static struct histogram h;
	struct buf out = BUF_INIT;
	struct figures f = { .out = &out };

	histogram_add(&h, 900);
	histogram_add(&h, 3500);
	histogram_add(&h, UINT64_C(100000000000));
	figures_histogram(&f, "x_seconds", "X.");
	figures_times(&f, NULL, NULL, &h);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_uint_eq(occurrences((char *)out.data,
				      "x_seconds_bucket{le=\"1e-06\"} 1\n"),
			  1);
	ck_assert_uint_eq(occurrences((char *)out.data,
				      "x_seconds_bucket{le=\"4e-06\"} 2\n"),
			  1);
	ck_assert_uint_eq(occurrences((char *)out.data,
				      "x_seconds_bucket{le=\"8.38861\"} 2\n"),
			  1);
	ck_assert_uint_eq(occurrences((char *)out.data,
				      "x_seconds_bucket{le=\"+Inf\"} 3\n"
				      "tabletfs_x_seconds_sum 100.000004\n"
				      "tabletfs_x_seconds_count 3\n"),
			  1);
	buf_release(&out);
}
END_TEST

/* What is under way is counted until it ends, whoever ends it. */
START_TEST(what_runs_is_told)
{
	static struct requests r;
	struct buf out = BUF_INIT;
	struct figures f = { .out = &out, .common = "store=\"/s\"" };

	metrics_init(&r);
	requests_begin(&r, FUSE_READ);
	requests_begin(&r, FUSE_READ);
	requests_begin(&r, 1000);
	metrics_print(&r, &f);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_ptr_nonnull(strstr((char *)out.data,
				     "tabletfs_requests_running{store=\"/s\","
				     "operation=\"read\"} 2\n"));
	ck_assert_ptr_nonnull(
		strstr((char *)out.data, "operation=\"other\"} 1\n"));
	buf_release(&out);
}
END_TEST

static const char *told_kind;
static uint64_t told_us, told_blocks;

static void note(void *context, const char *kind, uint64_t us,
		 const struct cost *cost)
{
	(void)context;
	told_kind = kind;
	told_us = us;
	told_blocks = cost->blocks;
}

/* What is told as slow is what the server worked, not what its client let it
 * wait for. */
START_TEST(who_asks_is_told_the_work)
{
	static struct requests r;
	const struct cost cost = { .blocks = 7 };

	metrics_init(&r);
	r.taken = note;
	requests_begin(&r, FUSE_READ);
	requests_end(&r, FUSE_READ, 9000000, 4001, &cost);
	ck_assert_str_eq(told_kind, "read");
	ck_assert_uint_eq(told_us, 5);
	ck_assert_uint_eq(told_blocks, 7);
	told_kind = NULL;
	requests_begin(&r, 1000);
	requests_end(&r, 1000, 1, 1, &cost);
	ck_assert_ptr_null(told_kind);
}
END_TEST

/* Prometheus knows three escapes. */
START_TEST(labels_are_escaped)
{
	struct buf out = BUF_INIT;

	ck_assert_int_eq(
		figures_label("store", bytes_string("/a\"b\\c\nd"), &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq((char *)out.data, "store=\"/a\\\"b\\\\c\\nd\"");
	buf_release(&out);
}
END_TEST

/* Counts as they are, however large; no digit of them is lost. */
START_TEST(numbers_are_whole)
{
	struct buf out = BUF_INIT;
	struct figures f = { .out = &out };

	figures_count(&f, "x_total", UINT64_C(123456789012345), "X.");
	figures_level(&f, "y", 0.25, "Y.");
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq((char *)out.data, "# HELP tabletfs_x_total X.\n"
					   "# TYPE tabletfs_x_total counter\n"
					   "tabletfs_x_total 123456789012345\n"
					   "# HELP tabletfs_y Y.\n"
					   "# TYPE tabletfs_y gauge\n"
					   "tabletfs_y 0.25\n");
	buf_release(&out);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { kinds_without_a_name_are_one,
				 buckets_add_up,
				 what_runs_is_told,
				 who_asks_is_told_the_work,
				 labels_are_escaped,
				 numbers_are_whole };

	return run_suite("metrics", NULL, NULL, tests,
			 sizeof(tests) / sizeof(*tests));
}
