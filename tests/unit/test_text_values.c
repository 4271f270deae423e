#include "store/text/value/duration.h"
#include "store/text/value/family.h"
#include "store/text/value/number.h"
#include "store/text/value/quote.h"
#include "store/text/value/time.h"
#include "tests/unit/suite.h"

/* Durations, times, integers, types, and Go's quoting. */

START_TEST(durations_parse)
{
	static const struct {
		const char *text;
		uint64_t us;
		const char *error;
	} cases[] = {
		{ "30d", UINT64_C(2592000000000), NULL },
		{ "1h", UINT64_C(3600000000), NULL },
		{ "7m", UINT64_C(420000000), NULL },
		{ "1s", 1000000, NULL },
		{ "500ms", 500000, NULL },
		{ "3us", 3, NULL },
		{ "007d", UINT64_C(604800000000), NULL },
		{ "106751d", UINT64_C(9223286400000000), NULL },
		{ "", 0, "invalid duration \"\"" },
		{ "d", 0, "invalid duration \"d\"" },
		{ "1", 0, "invalid duration \"1\"" },
		{ "1w", 0, "unknown unit \"w\" in duration \"1w\"" },
		{ "1h30m", 0, "unknown unit \"h30m\" in duration \"1h30m\"" },
		{ "200000d", 0, "invalid duration \"200000d\" overflows" },
		{ "99999999999999999999d", 0,
		  "invalid duration \"99999999999999999999d\": "
		  "strconv.ParseUint: parsing \"99999999999999999999\": "
		  "value out of range" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t us = 0;
		int err = duration_parse(bytes_string(cases[i].text), &us);

		if (cases[i].error) {
			ck_assert_int_eq(err, -ERR_bad_gc_policy);
			ck_assert_str_eq(err_detail(), cases[i].error);
		} else {
			ck_assert_int_eq(err, 0);
			ck_assert_uint_eq(us, cases[i].us);
		}
	}
}
END_TEST

START_TEST(durations_print_as_they_parse)
{
	static const char *const texts[] = { "30d", "25h",   "90m", "1s",
					     "1d",  "500ms", "3us", "1001us" };
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct buf out = BUF_INIT;
		uint64_t us;

		ck_assert_int_eq(duration_parse(bytes_string(texts[i]), &us),
				 0);
		ck_assert_int_eq(duration_print(us, &out), 0);
		ck_assert_int_eq(buf_terminate(&out), 0);
		ck_assert_str_eq((char *)out.data, texts[i]);
		buf_release(&out);
	}
}
END_TEST

START_TEST(integers_parse_as_in_go)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "12345", true, 12345 },
		{ "-1", true, -1 },
		{ "+7", true, 7 },
		{ "0x3e8", true, 1000 },
		{ "0X3E8", true, 1000 },
		{ "0777", true, 511 },
		{ "0o17", true, 15 },
		{ "0b101", true, 5 },
		{ "1_000_000", true, 1000000 },
		{ "0x_1", true, 1 },
		{ "0_7", true, 7 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "0x", false, 0 },
		{ "12x", false, 0 },
		{ "1e6", false, 0 },
		{ "08", false, 0 },
		{ "_1", false, 0 },
		{ "1_", false, 0 },
		{ "1__0", false, 0 },
		{ " 1", false, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value = 0;
		bool ok = int_parse_go(bytes_string(cases[i].text), &value);

		ck_assert_msg(ok == cases[i].ok && value == cases[i].value,
			      "%s gave %d, %lld", cases[i].text, ok,
			      (long long)value);
	}
}
END_TEST

/* Blanks around are none of the number, and nothing adds nothing. A NUL is no
 * blank. */
START_TEST(added_integers_have_blanks_around)
{
	int64_t number = 0;

	ck_assert_int_eq(int_parse_added(BYTES_LITERAL(" \t5\r\n"), &number),
			 1);
	ck_assert_int_eq(number, 5);
	ck_assert_int_eq(int_parse_added(BYTES_LITERAL(" \n"), &number), 0);
	ck_assert_int_eq(int_parse_added(BYTES_LITERAL("5\0"), &number),
			 -EINVAL);
	ck_assert_int_eq(int_parse_added(BYTES_LITERAL("\0"), &number),
			 -EINVAL);
}
END_TEST

START_TEST(integers_are_decimal)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "-1", true, -1 },
		{ "+7", true, 7 },
		{ "010", true, 10 },
		{ "-0", true, 0 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 },
		{ "99999999999999999999999", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "+-1", false, 0 },
		{ "0x10", false, 0 },
		{ "1_000", false, 0 },
		{ "1e3", false, 0 },
		{ "1.", false, 0 },
		{ " 1", false, 0 },
		{ "1 ", false, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value = 0;
		bool ok = int_parse(bytes_string(cases[i].text), &value);

		ck_assert_msg(ok == cases[i].ok && value == cases[i].value,
			      "%s gave %d, %lld", cases[i].text, ok,
			      (long long)value);
	}
}
END_TEST

START_TEST(times_parse)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t us;
	} cases[] = {
		{ "0", true, 0 },
		{ "1694359308000001", true, UINT64_C(1694359308000001) },
		{ "9223372036854775807", true, INT64_MAX },
		{ "9223372036854775808", false, 0 },
		{ "2023-09-10T15:21:48Z", true, UINT64_C(1694359308000000) },
		{ "2023-09-10T15:21:48.000001Z", true,
		  UINT64_C(1694359308000001) },
		{ "2023-09-10T15:21:48.5Z", true, UINT64_C(1694359308500000) },
		{ "2023-09-10T17:21:48+02:00", true,
		  UINT64_C(1694359308000000) },
		{ "1970-01-01T00:00:00Z", true, 0 },
		{ "2024-02-29T00:00:00Z", true, UINT64_C(1709164800000000) },
		{ "2023-02-29T00:00:00Z", false, 0 },
		{ "1969-12-31T23:59:59Z", false, 0 },
		{ "2023-09-10T15:21:48", false, 0 },
		{ "2023-09-10T15:21:48.0000001Z", false, 0 },
		{ "2023-09-10", false, 0 },
		{ "-1", false, 0 },
		{ "", false, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t us = 0;
		int err = time_parse(bytes_string(cases[i].text), &us);

		ck_assert_msg(err == (cases[i].ok ? 0 : -ERR_bad_timestamp) &&
				      us == cases[i].us,
			      "%s gave %d, %llu", cases[i].text, err,
			      (unsigned long long)us);
	}
}
END_TEST

START_TEST(quotes_as_in_go)
{
	static const struct {
		const char *text;
		size_t size;
		const char *quoted;
	} cases[] = {
		{ "", 0, "\"\"" },
		{ "android", 7, "\"android\"" },
		{ "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
		{ "\a\b\f\n\r\t\v", 7, "\"\\a\\b\\f\\n\\r\\t\\v\"" },
		{ "\0\1\x1f\x7f", 4, "\"\\x00\\x01\\x1f\\x7f\"" },
		{ "bin\x01\xff", 5, "\"bin\\x01\\xff\"" },
		{ "\xe5\x80\xa4", 3, "\"\xe5\x80\xa4\"" },
		{ "\xe5\x80", 2, "\"\\xe5\\x80\"" },
		/* next line, no-break space, soft hyphen: not printable */
		{ "\xc2\x85", 2, "\"\\u0085\"" },
		{ "\xc2\xa0", 2, "\"\\u00a0\"" },
		{ "\xc2\xad", 2, "\"\\u00ad\"" },
		/* byte order mark, private use, tag space */
		{ "\xef\xbb\xbf", 3, "\"\\ufeff\"" },
		{ "\xee\x80\x80", 3, "\"\\ue000\"" },
		{ "\xf3\xa0\x80\xa0", 4, "\"\\U000e0020\"" },
		/* replacement character, an emoji, a combining accent */
		{ "\xef\xbf\xbd", 3, "\"\xef\xbf\xbd\"" },
		{ "\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\"" },
		{ "e\xcc\x81", 3, "\"e\xcc\x81\"" },
		/* a surrogate and an overlong form are stray bytes */
		{ "\xed\xa0\x80", 3, "\"\\xed\\xa0\\x80\"" },
		{ "\xc0\x80", 2, "\"\\xc0\\x80\"" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT;

		ck_assert_int_eq(
			quote_go(bytes_of(cases[i].text, cases[i].size), &out),
			0);
		ck_assert_int_eq(buf_terminate(&out), 0);
		ck_assert_str_eq((char *)out.data, cases[i].quoted);
		buf_release(&out);
	}
}
END_TEST

START_TEST(types_have_words)
{
	enum family_type type;

	ck_assert_int_eq(family_type_parse(BYTES_LITERAL("inthll"), &type), 0);
	ck_assert_int_eq(type, FAMILY_INTHLL);
	ck_assert_str_eq(family_type_word(FAMILY_STRING), "stringutf8bytes");
	ck_assert_str_eq(family_type_json(FAMILY_BYTES), "{}");
	ck_assert_str_eq(family_type_json(FAMILY_INTSUM),
			 "{\"aggregateType\":{\"inputType\":{\"int64Type\":"
			 "{\"encoding\":{\"bigEndianBytes\":{}}}}, "
			 "\"sum\":{}}}");
	ck_assert_int_eq(family_type_parse(BYTES_LITERAL("float"), &type),
			 -ERR_no_such_type);
	ck_assert_str_eq(err_detail(), "unknown type float");
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		durations_parse,
		durations_print_as_they_parse,
		integers_parse_as_in_go,
		times_parse,
		quotes_as_in_go,
		types_have_words,
		added_integers_have_blanks_around,
		integers_are_decimal,
	};

	return run_suite("text values", NULL, NULL, tests, 8);
}
