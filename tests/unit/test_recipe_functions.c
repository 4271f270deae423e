#include "store/text/function/function.h"
#include "store/text/function/date.h"
#include "store/text/function/time_format.h"
#include "tests/unit/suite.h"
#include "store/base/err.h"

/* The functions of recipes, each at its edges, and their times. */

/* Binds "name(a,b)"; arguments are parted by commas, and none holds one. */
static int bind(const char *text, struct call *call)
{
	struct bytes arguments[FUNCTION_ARGUMENTS_MAX];
	const char *open = strchr(text, '('), *p = open ? open + 1 : NULL;
	unsigned int count = 0;

	while (p && count < FUNCTION_ARGUMENTS_MAX) {
		size_t size = strcspn(p, ",)");

		arguments[count++] = bytes_of(p, size);
		p = p[size] == ',' ? p + size + 1 : NULL;
	}
	return function_bind(open ? bytes_of(text, (size_t)(open - text))
				  : bytes_string(text),
			     arguments, count, call);
}

/* From text to text; a want that begins with ! is part of a refusal, and NULL
 * absent. */
static const struct {
	const char *function, *in, *want;
} texts[] = {
	{ "trim", " \t a b \r\n", "a b" },
	{ "trim", "  ", "" },
	{ "trim", "", "" },
	{ "lower", "AZ@[\xc3\x84", "az@[\xc3\x84" },
	{ "upper", "az`{\xc3\xa4", "AZ`{\xc3\xa4" },
	{ "default(x)", "", "x" },
	{ "default(x)", NULL, "x" },
	{ "default(x)", "y", "y" },
	{ "default()", NULL, "" },
	{ "trim", NULL, NULL },
	{ "length", NULL, NULL },
	{ "part(1,/)", "a/b", "a" },
	{ "part(2,/)", "a/b", "b" },
	{ "part(3,/)", "a/b", NULL },
	{ "part(2,/)", "a/", "" },
	{ "part(1,/)", "", "" },
	{ "part(2,ab)", "1ab2ab3", "2" },
	{ "replace(a,bb)", "aca", "bbcbb" },
	{ "replace(aa,a)", "aaa", "aa" },
	{ "replace(a,)", "aaa", "" },
	{ "replace(x,y)", "", "" },
	{ "slice(0,2)", "abc", "ab" },
	{ "slice(1,9)", "abc", "bc" },
	{ "slice(1)", "abc", "bc" },
	{ "slice(3,4)", "abc", "" },
	{ "slice(2,1)", "abc", "" },
	{ "length", "\xc3\xa4", "2" },
	{ "length", "", "0" },
	{ "reverse", "a\xc3\xa4\xe2\x82\xac",
	  "\xe2\x82\xac\xc3\xa4"
	  "a" },
	{ "reverse", "", "" },
	{ "reverse", "a\xff", "!not UTF-8" },
	{ "pad(5)", "42", "00042" },
	{ "pad(2)", "42", "42" },
	{ "pad(1)", "42", "!more digits" },
	{ "pad(5)", "-4", "!digits only" },
	{ "pad(5)", "", "!digits only" },
	{ "pad(6)", "1F600", "!those of hexadecimal numbers pad_hex does" },
	{ "pad_hex(6)", "1F600", "01F600" },
	{ "pad_hex(6)", "10ffff", "10ffff" },
	{ "pad_hex(4)", "10FFFF", "!more digits" },
	{ "pad_hex(6)", "1G", "!hexadecimal digits only" },
	{ "pad_hex(6)", "1@", "!hexadecimal digits only" },
	{ "pad_hex(6)", "0x1", "!hexadecimal digits only" },
	{ "pad_hex(6)", "-1", "!hexadecimal digits only" },
	{ "pad_hex(6)", "\x1a", "!hexadecimal digits only" },
	{ "pad_hex(6)", "", "!hexadecimal digits only" },
	{ "reverse_domain", "www.example.com", "com.example.www" },
	{ "reverse_domain", "localhost", "localhost" },
	{ "reverse_domain", "192.0.2.1", "!address" },
	{ "reverse_domain", "::1", "!no domain" },
	{ "reverse_domain", "[::1]", "!no domain" },
	{ "reverse_domain", "a.com:80", "!no domain" },
	{ "reverse_domain", "a..com", "!no domain" },
	{ "reverse_domain", "a.com.", "!no domain" },
	{ "reverse_domain", "", "!no domain" },
	/* XXH64 of "" and "a", seed 0, as its authors publish them. */
	{ "hash(16)", "", "ef46db3751d8e999" },
	{ "hash(16)", "a", "d24ec4f1a98c6e5b" },
	{ "hash(4)", "a", "d24e" },
	{ "salt(1)", "a", "0" },
	{ "salt(16)", "a", "11" },
	{ "salt(100)", "", "21" },
	{ "base64", "\xff\x01", "/wE=" },
	{ "unbase64", "aGk=", "hi" },
	{ "unbase64", "aGk", "!" },
	{ "hex", "\x01\xff", "01ff" },
	{ "unhex", "01fF", "\x01\xff" },
	{ "unhex", "0", "!odd" },
	{ "unhex", "0g", "!hexadecimal" },
	{ "json", "a\"b", "\"a\\\"b\"" },
	{ "json", "\xff", "!UTF-8" },
	{ "any", "a#b", "a#b" },
	{ "int64", "9223372036854775808", "!64-bit" },
	{ "int64", "1_0", "!64-bit" },
	{ "int64", "0x10", "!64-bit" },
	{ "int64", "", "!64-bit" },
	{ "int64", "-", "!64-bit" },
	{ "float64", "nan", "!number" },
	{ "float64", "1e400", "!64 bits" },
	{ "float64", "1,5", "!number" },
	{ "float64", "", "!number" },
	{ "float64", "1e", "!number" },
};

static void check_text(const char *function, const char *in, const char *want)
{
	struct value v = { .absent = !in, .text = bytes_string(in ? in : "") };
	struct buf memory = BUF_INIT;
	struct call call;
	int err;

	ck_assert_msg(bind(function, &call) == 0, "%s: %s", function,
		      err_detail());
	err = function_run(&call, 0, &v, &memory);
	if (want && want[0] == '!') {
		ck_assert_msg(err == -ERR_bad_line, "%s of %s", function, in);
		ck_assert_msg(strstr(err_detail(), want + 1), "%s: %s",
			      function, err_detail());
	} else {
		ck_assert_msg(err == 0, "%s: %s", function, err_detail());
		ck_assert_msg(v.absent == !want, "%s of %s", function, in);
		ck_assert_msg(!want || bytes_equal(v.text, bytes_string(want)),
			      "%s of %s: %.*s", function, in, (int)v.text.size,
			      v.text.data);
	}
	buf_release(&memory);
}

START_TEST(functions_of_texts)
{
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_text(texts[i].function, texts[i].in, texts[i].want);
}
END_TEST

static void check_bytes(const char *function, const char *in, const char *want)
{
	struct value v = { .text = bytes_string(in) };
	struct buf memory = BUF_INIT;
	struct call call;

	ck_assert_int_eq(bind(function, &call), 0);
	ck_assert_int_eq(function_run(&call, 0, &v, &memory), 0);
	ck_assert_msg(bytes_equal(v.text, bytes_of(want, 8)), "%s of %s",
		      function, in);
	buf_release(&memory);
}

START_TEST(numbers_are_big_endian)
{
	check_bytes("int64", "1", "\0\0\0\0\0\0\0\1");
	check_bytes("int64", "+007", "\0\0\0\0\0\0\0\7");
	check_bytes("int64", "-1", "\xff\xff\xff\xff\xff\xff\xff\xff");
	check_bytes("int64", "-9223372036854775808", "\x80\0\0\0\0\0\0\0");
	check_bytes("float64", "1.5", "\x3f\xf8\0\0\0\0\0\0");
	check_bytes("float64", "-0", "\x80\0\0\0\0\0\0\0");
}
END_TEST

/* A text read as a time and printed again; ! as above. */
static void check_time(const char *read, const char *print, const char *in,
		       const char *want)
{
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct value v = { .text = bytes_string(in) };
	struct call call;
	int err;

	ck_assert_msg(bind(read, &call) == 0, "%s", err_detail());
	ck_assert_int_eq(function_gives(&call), VALUE_TIME);
	err = function_run(&call, 7200, &v, &first);
	if (!err) {
		ck_assert_msg(bind(print, &call) == 0, "%s", err_detail());
		err = function_run(&call, 0, &v, &second);
	}
	if (want[0] == '!')
		ck_assert_msg(err == -ERR_bad_line, "%s of %s: %.*s", read, in,
			      (int)v.text.size, v.text.data);
	else
		ck_assert_msg(!err && bytes_equal(v.text, bytes_string(want)),
			      "%s of %s: %d, %.*s instead of %s", read, in, err,
			      (int)v.text.size, v.text.data, want);
	buf_release(&first);
	buf_release(&second);
}

START_TEST(times)
{
	/* ISO 8601; what has no zone is two hours east. */
	check_time("time", "date", "2026-01-05", "2026-01-04T22:00:00Z");
	check_time("time", "date", "2026-01-05 10:11", "2026-01-05T08:11:00Z");
	check_time("time", "date", "2026-01-05T10:11:12.25Z",
		   "2026-01-05T10:11:12.250000Z");
	check_time("time", "date", "2026-01-05T10:11:12,5+0130",
		   "2026-01-05T08:41:12.500000Z");
	check_time("time", "date", "2026-01-05T10:11-05",
		   "2026-01-05T15:11:00Z");
	check_time("time", "unix_us", "1970-01-01T00:00Z", "0");
	check_time("time", "unix_us", "1969-12-31T23:59:59.5Z", "-500000");
	check_time("time", "unix_s", "1969-12-31T23:59:59.5Z", "-1");
	check_time("time", "unix_ms", "1969-12-31T23:59:59.5Z", "-500");
	check_time("time", "date", "0001-01-01T00:00Z", "0001-01-01T00:00:00Z");
	check_time("time", "date", "9999-12-31T23:59:59Z",
		   "9999-12-31T23:59:59Z");
	check_time("time", "date", "0001-01-01T00:00+01:00", "!");
	check_time("time", "date", "2026-02-31", "!");
	check_time("time", "date", "2025-02-29", "!");
	check_time("time", "date(%F)", "2024-02-29T12:00Z", "2024-02-29");
	check_time("time", "date", "1900-02-29", "!");
	check_time("time", "date", "2026-01-05T24:00Z", "2026-01-06T00:00:00Z");
	check_time("time", "date", "2024-12-31T24:00:00.0Z",
		   "2025-01-01T00:00:00Z");
	check_time("time", "date", "2026-01-05T24:01Z", "!");
	check_time("time", "date", "2026-01-05T24:00:00.1Z", "!");
	check_time("time", "date", "2026-01-05T25:00Z", "!");
	check_time("time(%F %H:%M)", "date", "2026-01-05 24:00", "!");
	/* The basic form. */
	check_time("time", "date", "20260105", "2026-01-04T22:00:00Z");
	check_time("time", "date", "20260105T101112.25Z",
		   "2026-01-05T10:11:12.250000Z");
	check_time("time", "date", "20260105T1011+0130",
		   "2026-01-05T08:41:00Z");
	check_time("time", "date", "20260105101112", "!");
	check_time("time", "date", "20260105T10:11", "!");
	check_time("time", "date", "2026-01-05T1011", "!");
	check_time("time", "date", "202601", "!");
	check_time("time", "date", "2026-01-05T10:60Z", "!");
	check_time("time", "date", "2026-01-05T10:11:60Z", "!");
	/* What is finer than microseconds is cut. */
	check_time("time", "date", "2026-01-05T10:11:12.123456999Z",
		   "2026-01-05T10:11:12.123456Z");
	check_time("time", "date", "2026-01-05T10:11:12,9999999999+0100",
		   "2026-01-05T09:11:12.999999Z");
	check_time("time", "date", "2026-01-05T10:11:12.Z", "!");
	check_time("time", "date", "2026-01-05T10:11 CET", "!");
	check_time("time", "date", "", "!");
}
END_TEST

START_TEST(times_by_formats)
{
	check_time("time(%Y-%m-%d %H:%M:%S.%f)", "date(%f)",
		   "2026-01-05 10:11:12.250", "250000");
	check_time("time(%d/%b/%Y:%H:%M:%S %z)", "date(%F %T)",
		   "05/JAN/2026:10:11:12 +0100", "2026-01-05 09:11:12");
	check_time("time(%m/%d/%Y %I:%M %p%z)", "date(%H:%M)",
		   "1/5/2026 12:07 amZ", "00:07");
	check_time("time(%m/%d/%Y %I:%M %p%z)", "date(%I %p)",
		   "1/5/2026 12:07 PMZ", "12 PM");
	check_time("time(%m/%d/%Y %I:%M %p%z)", "date(%H)",
		   "1/5/2026 13:07 PMZ", "!");
	check_time("time(%Y%j%z)", "date(%Y-%m-%d %j %b %%)", "2024366Z",
		   "2024-12-31 366 Dec %");
	check_time("time(%Y%j%z)", "date", "2023366Z", "!");
	check_time("time(%F%TZ)", "date", "2026-01-0510:11:12Z",
		   "2026-01-05T08:11:12Z");
	check_time("time(%Y-%m-%d)", "date", "2026-01-05x", "!");
	/* Units. */
	check_time("time(unix_s)", "unix_us", "1700000000.25",
		   "1700000000250000");
	check_time("time(unix_s)", "unix_us", "-0.5", "-500000");
	check_time("time(unix_s)", "unix_us", "1700000000.1234567890",
		   "1700000000123456");
	check_time("time(unix_s)", "unix_us", "-0.0000005", "-1");
	check_time("time(unix_s)", "unix_us", "-1.0000000", "-1000000");
	check_time("time(unix_s)", "unix_us", "1.2x", "!");
	check_time("time(unix_ms)", "unix_us", "1.0005", "1000");
	check_time("time(unix_us)", "unix_us", "7", "7");
	check_time("time(unix_us)", "unix_us", "7.0", "7");
	check_time("time(unix_us)", "unix_us", "7.5", "7");
	check_time("time(unix_us)", "unix_us", "-7.5", "-8");
	check_time("time(%F+%T.%f)", "date", "2026-01-05+10:11:12.1234567890",
		   "2026-01-05T08:11:12.123456Z");
	check_time("time(unix_s)", "unix_us", "9223372036855", "!");
	check_time("time(unix_s)", "unix_us", "1e9", "!");
	check_time("time(unix_us)", "date", "9223372036854775807", "!");
	/* Newest first, always 19 digits. */
	check_time("time(unix_us)", "reverse_time", "0", "9223372036854775807");
	check_time("time(unix_us)", "reverse_time", "9223372036854775807",
		   "0000000000000000000");
	check_time("time(unix_us)", "reverse_time", "-1",
		   "9223372036854775808");
}
END_TEST

START_TEST(floors)
{
	struct buf memory = BUF_INIT;
	struct value v = { .type = VALUE_TIME, .us = -1 };
	struct call call;

	ck_assert_int_eq(bind("floor(1h)", &call), 0);
	ck_assert_int_eq(function_run(&call, 0, &v, &memory), 0);
	ck_assert_int_eq(v.us, -3600000000);
	v.us = 7200000000 - 1;
	ck_assert_int_eq(function_run(&call, 0, &v, &memory), 0);
	ck_assert_int_eq(v.us, 3600000000);
	v.us = INT64_MIN;
	ck_assert_int_eq(function_run(&call, 0, &v, &memory), -ERR_bad_line);
	buf_release(&memory);
}
END_TEST

START_TEST(wrong_functions)
{
	static const char *const wrong[] = {
		"nope",         "",
		"trim(x)",      "pad",
		"pad(0)",       "pad(-1)",
		"pad(x)",       "pad(4097)",
		"hash(17)",     "salt(0)",
		"part(0,/)",    "part(1,)",
		"part(1)",      "replace(,x)",
		"slice",        "floor(1)",
		"floor(0s)",    "floor(1w)",
		"floor",        "time(%Q)",
		"time(%m-%d)",  "time(%Y %I)",
		"time(%Y %)",   "date(%q)",
		"time(%Y%j%m)", "time(CET)",
		"default",      "length(1)",
	};
	struct call call;
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(bind(wrong[i], &call) == -ERR_bad_argument, "%s",
			      wrong[i]);
	/* The message names all. */
	bind("nope", &call);
	for (i = 0; function_usage(i); i++)
		ck_assert(strstr(err_detail(), function_usage(i)));
	ck_assert_int_gt(i, 25);
}
END_TEST

/* Every day of 800 years becomes its date and comes back. */
START_TEST(every_day)
{
	int64_t day, us, previous = 0;
	struct date m = { 0 };

	for (day = -365 * 500; day < 365 * 300; day++) {
		date_of(day * INT64_C(86400000000) + 1, &m);
		ck_assert(date_us(&m, &us));
		ck_assert_int_eq(us, day * INT64_C(86400000000) + 1);
		ck_assert(previous == 0 || date_year_day(&m) == 1 ||
			  date_year_day(&m) == previous + 1);
		previous = date_year_day(&m);
	}
}
END_TEST

int main(void)
{
	const TTest *tests[] = { functions_of_texts,
				 numbers_are_big_endian,
				 times,
				 times_by_formats,
				 floors,
				 wrong_functions,
				 every_day };

	return run_suite("recipe functions", NULL, NULL, tests, 7);
}
