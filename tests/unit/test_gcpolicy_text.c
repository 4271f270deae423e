#include <stdio.h>

#include "store/text/value/family.h"
#include "store/text/value/gcpolicy.h"
#include "tests/unit/suite.h"

static void check_print(int (*print)(const struct gc_policy *, struct buf *),
			const struct gc_policy *p, const char *want)
{
	struct buf out = BUF_INIT;

	ck_assert_int_eq(print(p, &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq((char *)out.data, want);
	buf_release(&out);
}

START_TEST(policies_parse_and_print)
{
	/* What cbt takes, what cbt ls prints, what setgcpolicy takes back. */
	static const char *const cases[][3] = {
		{ "never", "", "never" },
		{ " never ", "", "never" },
		{ "maxversions=2", "versions() > 2", "maxversions=2" },
		{ "maxversions = 2", "versions() > 2", "maxversions=2" },
		{ "maxage=10d", "age() > 10d", "maxage=10d" },
		{ "maxage=90m", "age() > 90m", "maxage=90m" },
		{ "maxage=60m", "age() > 1h", "maxage=1h" },
		{ "maxage=30s", "age() > 30000000", "maxage=30s" },
		{ "maxage=10d||maxversions=1",
		  "(age() > 10d || versions() > 1)",
		  "maxage=10d||maxversions=1" },
		{ "maxage=1h&&maxversions=3", "(age() > 1h && versions() > 3)",
		  "maxage=1h&&maxversions=3" },
		{ "maxage=1d or maxversions=2 and maxversions=5",
		  "((age() > 1d || versions() > 2) && versions() > 5)",
		  "maxage=1d||maxversions=2&&maxversions=5" },
		{ "maxage=1d or (maxversions=2 and maxversions=5)",
		  "(age() > 1d || (versions() > 2 && versions() > 5))",
		  "maxage=1d||(maxversions=2&&maxversions=5)" },
		{ "((maxage=1d))", "age() > 1d", "maxage=1d" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gc_policy *p, *again;

		ck_assert_int_eq(gc_policy_parse(bytes_string(cases[i][0]), &p),
				 0);
		check_print(gc_policy_print, p, cases[i][1]);
		check_print(gc_policy_print_words, p, cases[i][2]);
		ck_assert_int_eq(
			gc_policy_parse(bytes_string(cases[i][2]), &again), 0);
		ck_assert(gc_policy_equal(p, again));
		gc_policy_free(again);
		gc_policy_free(p);
	}
}
END_TEST

START_TEST(errors_are_cbts)
{
	static const char *const cases[][2] = {
		{ "", "empty GC policy term" },
		{ " ", "empty GC policy term" },
		{ "MAXVERSIONS=1", "unexpected token: \"MAXVERSIONS\"" },
		{ "maxage=1d maxversions=1",
		  "want end of input, got \"maxversions\"" },
		{ "(maxage=1d", "expected \")\", saw \"\"" },
		{ "maxage=1d)", "want end of input, got \")\"" },
		{ "()", "unexpected token: \")\"" },
		{ "maxage", "expected \"=\", saw \"\"" },
		{ "maxage=", "expected a token after '='" },
		{ "maxage=1.5h", "invalid duration \"1\"" },
		{ "maxage=-1d", "bad rune '-'" },
		{ "maxage=1d!", "bad rune '!'" },
		{ "maxage=5 d", "invalid duration \"5\"" },
		{ "maxage == 1d", "invalid duration \"=\"" },
		{ "maxversions=x",
		  "strconv.ParseUint: parsing \"x\": invalid syntax" },
		{ "maxversions=1.5", "bad rune '.'" },
		{ "maxversions=0x10",
		  "strconv.ParseUint: parsing \"0x10\": invalid syntax" },
		{ "maxversions=2147483648",
		  "strconv.ParseUint: parsing \"2147483648\": value out of "
		  "range" },
		{ "maxage=1d or", "empty GC policy term" },
		{ "or maxage=1d", "unexpected token: \"or\"" },
		{ "maxage=1d & maxversions=2", "expected &&" },
		{ "maxage=1d|maxversions=1", "expected ||" },
		{ "maxage=1d or or maxversions=2", "unexpected token: \"or\"" },
		{ "(maxage=1d)(maxversions=1)",
		  "want end of input, got \"(\"" },
		{ "never never", "unexpected token: \"never\"" },
		{ "never or maxage=1d", "unexpected token: \"never\"" },
		{ "a_b", "unexpected token: \"a\"" },
		/* Google's documents forbid these; the emulator does not. */
		{ "maxversions=0", "maxversions must be more than 0" },
		{ "maxage=0s", "maxage must be more than 0" },
	};
	struct gc_policy *p;
	size_t i;

	ck_assert_int_eq(gc_policy_parse(BYTES_LITERAL("maxversions=6\0"), &p),
			 -ERR_bad_gc_policy);
	ck_assert_str_eq(err_detail(), "invalid GC policy: bad rune '\\x00'");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[200];

		snprintf(want, sizeof(want), "invalid GC policy: %s",
			 cases[i][1]);
		ck_assert_int_eq(gc_policy_parse(bytes_string(cases[i][0]), &p),
				 -ERR_bad_gc_policy);
		ck_assert_ptr_null(p);
		ck_assert_str_eq(err_detail(), want);
	}
}
END_TEST

START_TEST(deep_policies_are_refused)
{
	struct buf text = BUF_INIT;
	struct gc_policy *p;
	int i;

	for (i = 0; i < 10000; i++)
		ck_assert_int_eq(buf_add_byte(&text, '('), 0);
	ck_assert_int_eq(gc_policy_parse(buf_bytes(&text), &p),
			 -ERR_bad_gc_policy);
	buf_reset(&text);
	for (i = 0; i < 20; i++)
		ck_assert_int_eq(
			buf_add_string(&text, i ? "||maxage=1d" : "maxage=1d"),
			0);
	ck_assert_int_eq(gc_policy_parse(buf_bytes(&text), &p),
			 -ERR_bad_gc_policy);
	buf_release(&text);
}
END_TEST

START_TEST(family_specs_parse)
{
	struct family_spec spec;

	ck_assert_int_eq(family_spec_parse(BYTES_LITERAL("f"), &spec), 0);
	ck_assert(bytes_equal(spec.name, BYTES_LITERAL("f")));
	ck_assert_ptr_null(spec.gc);
	ck_assert_int_eq(
		family_spec_parse(BYTES_LITERAL("s:maxversions=3:intsum"),
				  &spec),
		0);
	ck_assert(bytes_equal(spec.name, BYTES_LITERAL("s")));
	ck_assert_int_eq(spec.type, FAMILY_INTSUM);
	ck_assert_uint_eq(spec.gc->limit, 3);
	gc_policy_free((struct gc_policy *)(uintptr_t)spec.gc);
	ck_assert_int_eq(family_spec_parse(BYTES_LITERAL("s:intsum"), &spec),
			 -ERR_bad_gc_policy);
	ck_assert_int_eq(
		family_spec_parse(BYTES_LITERAL("s:maxage=1d:float"), &spec),
		-ERR_no_such_type);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { policies_parse_and_print, errors_are_cbts,
				 deep_policies_are_refused,
				 family_specs_parse };

	return run_suite("gc policy text", NULL, NULL, tests, 4);
}
