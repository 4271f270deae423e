#include "store/base/err.h"
#include "store/regex.h"
#include "tests/unit/suite.h"

#define S(s) (s), sizeof(s) - 1

struct match_case {
	const char *pattern;
	size_t pattern_size;
	const char *subject;
	size_t subject_size;
	int want;
};

static void check_match(const struct match_case *c)
{
	struct regex *r;

	ck_assert_msg(!regex_new(bytes_of(c->pattern, c->pattern_size), &r),
		      "%s: %s", c->pattern, err_detail());
	ck_assert_msg(regex_match(r, bytes_of(c->subject, c->subject_size)) ==
			      c->want,
		      "pattern %s, subject %s", c->pattern, c->subject);
	regex_free(r);
}

START_TEST(matches_whole_subjects)
{
	static const struct match_case cases[] = {
		{ S("phone"), S("phone#1"), 0 },
		{ S("phone.*"), S("phone#1"), 1 },
		{ S("a|b"), S("a"), 1 },
		{ S("a|b"), S("ab"), 0 },
		{ S("a|ab"), S("ab"), 1 },
		{ S("a*|b"), S("aab"), 0 },
		{ S("^a.*$"), S("aa"), 1 },
		{ S(""), S(""), 1 },
		{ S(""), S("a"), 0 },
		/* bytes, not characters */
		{ S(".."), S("\xc3\xa9"), 1 },
		{ S("."), S("\n"), 0 },
		{ S("(?s)."), S("\n"), 1 },
		{ S("(?s:.)b"), S("\nb"), 1 },
		{ S("a\\Cb"), S("a\nb"), 1 },
		{ S("a\\C*"), S("a\0\xff\n"), 1 },
		{ S("a.b"), S("a\0b"), 1 },
		{ S("a\0b"), S("a\0b"), 1 },
		{ S("\xff"), S("\xff"), 1 },
		{ S("\\xff\\x{41}\\101\\0"),
		  S("\xff"
		    "AA\0"),
		  1 },
		{ S("[\xfe-\xff]+"), S("\xff\xfe"), 1 },
		{ S("a$"), S("a\n"), 0 },
		{ S("\\Qa.b\\E."), S("a.bc"), 1 },
		{ S("\\Qa.b\\E."), S("axbc"), 0 },
		{ S("\\Qa.b"), S("a.b"), 1 },
		{ S("\\s"), S("\v"), 0 },
		{ S("[\\s]"), S("\t"), 1 },
		{ S("\\v"), S("\v"), 1 },
		{ S("\\v"), S("\n"), 0 },
		{ S("[[:alpha:]]+"), S("abc"), 1 },
		{ S("[]a]+"), S("]a"), 1 },
		{ S("[^]a]+"), S("bc"), 1 },
		{ S("[(+*]+"), S("(+*"), 1 },
		{ S("[a-c-]+"), S("b-"), 1 },
		{ S("(?i)abc"), S("aBC"), 1 },
		{ S("(?P<x>a)(?<y>b)(?:c)"), S("abc"), 1 },
		{ S("x{2,3}"), S("xxx"), 1 },
		{ S("x{2,3}"), S("xxxx"), 0 },
		{ S("x{,3}"), S("x{,3}"), 1 },
		{ S("x*?y??"), S("xx"), 1 },
		{ S("\\pL+"), S("ab"), 1 },
		{ S("\\p{Lu}+"), S("AB"), 1 },
		{ S("a\\.b\\#\\%"), S("a.b#%"), 1 },
		{ S("\\d+\\b#\\w\\W\\D\\S"), S("12#a!xy"), 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_match(&cases[i]);
}
END_TEST

/* Where PCRE2 has another meaning than RE2. */
START_TEST(matches_as_re2)
{
	static const struct match_case cases[] = {
		{ S("[^\\S]"), S("\v"), 0 },
		{ S("[\\S\\n]"), S("\v"), 1 },
		{ S("[\\S\\n]"), S(" "), 0 },
		/* the case of Latin-1 */
		{ S("(?i)\xe9"), S("\xc9"), 1 },
		{ S("(?i)[\xd8-\xde]"), S("\xfe"), 1 },
		{ S("(?i)\xd7"), S("\xf7"), 0 },
		{ S("(?i)\xdf"), S("\xff"), 0 },
		{ S("\\w"), S("\xe9"), 0 },
		{ S("[[:alpha:]]"), S("\xe9"), 0 },
		/* lines */
		{ S("(?m)a$\\n^b"), S("a\nb"), 1 },
		{ S("(?m)a\\n^"), S("a\n"), 1 },
		{ S("(?m:a$)\\nb"), S("a\nb"), 1 },
		{ S("(?m:a)$\\nb"), S("a\nb"), 0 },
		{ S("(?m)(?-m:a$)\\nb"), S("a\nb"), 0 },
		{ S("((?m)a)$\\nb"), S("a\nb"), 0 },
		{ S("(?m)(a)$\\nb"), S("a\nb"), 1 },
		{ S("(?i-m:a$\\n)"), S("a\n"), 0 },
		/* what can be repeated */
		{ S("^+a$*\\b?\\B*\\A{0,2}\\z+"), S("a"), 1 },
		{ S("a{01}"), S("a"), 0 },
		{ S("a{01}"), S("a{01}"), 1 },
		{ S("a{1,01}"), S("a{1,01}"), 1 },
		{ S("a{0}{01}"), S("{01}"), 1 },
		{ S("(?)a"), S("a"), 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_match(&cases[i]);
}
END_TEST

START_TEST(refuses_what_re2_refuses)
{
	static const char *const patterns[] = {
		"(",        "a)",       ")(",        "a)|(b",   "[a",
		"*",        "a|*",      "a**",       "a++",     "a*+",
		"a?+",      "a{2}{3}",  "a{2}+",     "a{1001}", "a{1,2000}",
		"(a)\\1",   "\\8",      "\\R",       "\\X",     "\\K",
		"\\G",      "\\N",      "\\g1",      "\\k<a>",  "\\h",
		"\\e",      "\\E",      "\\Z",       "\\c",     "[\\b]",
		"(?=a)",    "(?!a)",    "(?<=a)",    "(?<!a)",  "(?>a)",
		"(?|a)",    "(?R)",     "(?1)",      "(?#x)",   "(?x)a",
		"(?P=n)",   "(?P>n)",   "(*ACCEPT)", "(?C)a",   "\\",
		"a\\",      "\\x",      "\\x{100}",  "\\777",   "(?",
		"\\p{None", "[[:no:]]", "(?-)a",     "(?i-)a",  "(?i--s)a",
	};
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct regex *r;

		ck_assert_msg(regex_new(bytes_string(patterns[i]), &r) ==
				      -ERR_bad_argument,
			      "%s was taken", patterns[i]);
		ck_assert_ptr_null(r);
		ck_assert_int_eq(strncmp(err_detail(), "error parsing", 13), 0);
	}
}
END_TEST

START_TEST(heads_are_literal)
{
	static const char *const cases[][2] = {
		{ "phone#.*", "phone#" }, { "a\\.b.*", "a.b" },
		{ "ab*c", "a" },          { "ab?", "a" },
		{ "ab{0,2}", "a" },       { "ab+", "a" },
		{ "abc|abd", "" },        { "ab(c|d)", "ab" },
		{ "(ab)c", "" },          { "^ab.", "ab" },
		{ "ab[c]", "ab" },        { "(?i)ab", "" },
		{ "\\Qa.b\\E.", "a.b" },  { "a\\C", "a" },
		{ "abc", "abc" },         { "a|", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct regex *r;

		ck_assert_int_eq(regex_new(bytes_string(cases[i][0]), &r), 0);
		ck_assert_msg(
			bytes_equal(regex_head(r), bytes_string(cases[i][1])),
			"%s has head %.*s", cases[i][0],
			(int)regex_head(r).size, regex_head(r).data);
		regex_free(r);
	}
}
END_TEST

START_TEST(stays_linear)
{
	/* Exponential for a matcher that backtracks. */
	char subject[20001];
	static const char *const counted[] = { "(a+a+)+[bc]", "(a{2,}){2,}[bc]",
					       "([ab]+.+)+\\d",
					       "(\\w{3,}\\D+?)+[cd]" };
	struct regex *r;
	size_t i;

	memset(subject, 'a', sizeof(subject) - 1);
	subject[sizeof(subject) - 1] = 'b';
	ck_assert_int_eq(regex_new(BYTES_LITERAL("(a*)*(a|aa)*c"), &r), 0);
	ck_assert_int_eq(regex_match(r, bytes_of(subject, sizeof(subject))), 0);
	regex_free(r);
	/* And for one that counts repetitions. */
	for (i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		ck_assert_int_eq(regex_new(bytes_string(counted[i]), &r), 0);
		ck_assert_int_eq(regex_match(r, bytes_of(subject, 20000)), 0);
		regex_free(r);
	}
}
END_TEST

int main(void)
{
	const TTest *tests[] = { matches_whole_subjects, matches_as_re2,
				 refuses_what_re2_refuses, heads_are_literal,
				 stays_linear };

	return run_suite("regex", NULL, NULL, tests, 5);
}
