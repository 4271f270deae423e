#include <limits.h>
#include <stdlib.h>

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
	ck_assert_msg(regex_match(r, bytes_of(c->subject, c->subject_size),
				  NULL) == c->want,
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

/* What a repetition is of, and what a class holds, are RE2's. */
START_TEST(repeats_and_classes_as_re2)
{
	static const struct match_case cases[] = {
		/* a dash beside a set is a dash */
		{ S("[\\w-.]+"), S("a-.b"), 1 },
		{ S("[\\d-a]+"), S("1-a"), 1 },
		{ S("[\\d-a]"), S("b"), 0 },
		{ S("[[:alpha:]-.]+"), S("a-."), 1 },
		{ S("[+--]+"), S("+,-"), 1 },
		{ S("[--a]"), S("Z"), 1 },
		/* what stands before nothing, or before flags, is repeated */
		{ S("ba\\Q\\E+"), S("baa"), 1 },
		{ S("ba\\Q\\E{2,}"), S("ba"), 0 },
		{ S("a*\\Q\\E*b"), S("aab"), 1 },
		{ S("(?:a{2})*(?i){2}"), S("aaaa"), 1 },
		{ S("a(?i)?"), S(""), 1 },
		{ S("a(?i)*B"), S("aab"), 1 },
		{ S("a(?i)*B"), S("Aab"), 0 },
		/* letters of both cases */
		{ S("(?i)\\p{Lu}+"), S("aA\xe9\xb5\xdf\xff"), 1 },
		{ S("(?i)\\P{Lu}"), S("a"), 0 },
		{ S("(?i)[^\\p{Ll}]"), S("1"), 1 },
		{ S("(?i)[\\p{Lu}]+"), S("aA"), 1 },
		{ S("((?i)a)\\p{Lu}"), S("Ab"), 0 },
		{ S("(?i)\\p{Greek}"), S("\xb5"), 1 },
		{ S("\\p{Greek}"), S("\xb5"), 0 },
		{ S("\\p{^Lu}\\P{^Lu}"), S("aA"), 1 },
		{ S("\\P{Any}*[\\P{Any}]*[^\\P{Any}]"), S("\n"), 1 },
		/* names */
		{ S("(?P<1a>b)"), S("b"), 1 },
		{ S("(?P<nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn>b)"), S("b"),
		  1 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_match(&cases[i]);
}
END_TEST

static void check_refused(const char *pattern)
{
	struct regex *r;

	ck_assert_msg(regex_new(bytes_string(pattern), &r) == -ERR_bad_argument,
		      "%s was taken", pattern);
	ck_assert_ptr_null(r);
	ck_assert_int_eq(strncmp(err_detail(), "error parsing", 13), 0);
}

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
	static const char *const more[] = {
		"[a-\\d]",          "[z-a]",         "[[:<:]]",
		"\\p{latin}",       "\\p{L&}",       "\\p",
		"(?P<n>a)(?P<n>b)", "(?P<>a)",       "(?P<n",
		"a(?i)*\\E",        "(?i)*",         "a{3,2}",
		"(a{40}){30}",      "((a{2}){501})", "\\\xe9",
	};
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		check_refused(patterns[i]);
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		check_refused(more[i]);
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
		{ "ab(?i)?", "a" },       { "ab\\Q\\E*", "a" },
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
	ck_assert_int_eq(
		regex_match(r, bytes_of(subject, sizeof(subject)), NULL), 0);
	regex_free(r);
	/* And for one that counts repetitions. */
	for (i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		ck_assert_int_eq(regex_new(bytes_string(counted[i]), &r), 0);
		ck_assert_int_eq(regex_match(r, bytes_of(subject, 20000), NULL),
				 0);
		regex_free(r);
	}
}
END_TEST

static unsigned int asked;
static unsigned int asked_at_most;

static bool count_asked(void)
{
	return ++asked >= asked_at_most;
}

/* A match of a subject of so many letters and none of what it ends with, of
 * which stop is asked until it says so. */
static int match_long(const char *pattern, size_t size, unsigned int at_most,
		      uint64_t limit_ns)
{
	struct regex_watch watch = { .stop = count_asked,
				     .limit_ns = limit_ns };
	uint8_t *subject = malloc(size);
	struct regex *r;
	int result;

	ck_assert_ptr_nonnull(subject);
	memset(subject, 'a', size);
	ck_assert_int_eq(regex_new(bytes_string(pattern), &r), 0);
	asked = 0;
	asked_at_most = at_most;
	result = regex_match(r, bytes_of(subject, size), &watch);
	regex_free(r);
	free(subject);
	return result;
}

START_TEST(asks_while_it_matches)
{
	static const struct {
		const char *pattern;
		size_t bytes; /* between two questions, at most */
	} cases[] = {
		{ "a*b", 16384 },
		{ "(.*a){30}b", 4096 },
		{ ".*a(.?){999}c", 32 },
		{ ".*(a|b|.){900}(a|b|.){900}c", 4 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* The first ones are of attempts with less room. */
		size_t size = cases[i].bytes * 16 + 16384;

		ck_assert_int_eq(match_long(cases[i].pattern, size, 8, 0),
				 -EINTR);
		ck_assert_uint_eq(asked, 8);
	}
	ck_assert_int_eq(match_long("a*b", 10 << 20, UINT_MAX, 0), 0);
	ck_assert_uint_ge(asked, 500);
}
END_TEST

/* A match that is left as often as it asks comes to what it would have, and
 * one that is forgotten leaves nothing to the next. */
START_TEST(goes_on_where_it_paused)
{
	static const struct {
		const char *pattern;
		unsigned int pauses; /* at least */
		int want, of_five;
	} cases[] = {
		{ "a*", 1, 1, 1 },
		{ "a*b", 1, 0, 0 },
		{ "(.*a){30}", 4, 1, 0 },
		{ "(?s:a|\\ba\\B)*(.?){300}", 70, 1, 1 },
		{ "a(.?){400}(.?){400}", 150, 0, 1 },
	};
	struct regex_watch watch = { .pause = count_asked };
	struct bytes subject;
	struct regex *r;
	uint8_t *letters = malloc(5000);
	size_t i;
	int got;

	ck_assert_ptr_nonnull(letters);
	memset(letters, 'a', 5000);
	asked_at_most = 1;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(regex_new(bytes_string(cases[i].pattern), &r),
				 0);
		asked = 0;
		subject = bytes_of(letters, 5000);
		while ((got = regex_match(r, subject, &watch)) == -EAGAIN)
			;
		ck_assert_int_eq(got, cases[i].want);
		ck_assert_uint_ge(asked, cases[i].pauses);
		ck_assert_int_eq(regex_match(r, subject, &watch), -EAGAIN);
		regex_forget(r);
		ck_assert_int_eq(regex_match(r, bytes_of(letters, 5), NULL),
				 cases[i].of_five);
		regex_free(r);
	}
	free(letters);
}
END_TEST

/* Short subjects, too, add up to what is asked after. */
START_TEST(asks_between_matches)
{
	struct regex_watch watch = { .stop = count_asked };
	struct regex *r;
	size_t i;

	asked = 0;
	asked_at_most = UINT_MAX;
	ck_assert_int_eq(regex_new(BYTES_LITERAL("a+b"), &r), 0);
	for (i = 0; i < 100000; i++)
		ck_assert_int_eq(regex_match(r, BYTES_LITERAL("aaaa"), &watch),
				 0);
	ck_assert_uint_ge(asked, 20);
	regex_free(r);
}
END_TEST

START_TEST(ends_at_its_limit)
{
	ck_assert_int_eq(match_long("(.*a){30}b", 1 << 20, UINT_MAX, 1000000),
			 -ERR_bad_argument);
	ck_assert_ptr_nonnull(strstr(err_detail(), "longer to match"));
	ck_assert_uint_lt(asked, 100);
	/* More places at once than there is room for. */
	ck_assert_int_eq(
		match_long(".*(.?.?.?.?.?.?){1000}c", 20000, UINT_MAX, 0),
		-ERR_bad_argument);
	ck_assert_ptr_nonnull(strstr(err_detail(), "places"));
}
END_TEST

/* Where one piece ends and the next begins must not matter. */
START_TEST(matches_across_pieces)
{
	static const struct match_case cases[] = {
		{ S("(?s).*\\bx\\b.*"), S("x"), 1 },
		{ S("(?ms).*y$.^x.*"), S("y\nx"), 1 },
		{ S("(?s).*[^y]x.*"), S("yx"), 0 },
		{ S("(?s)a*yx?(a*|b)"), S("yx"), 1 },
	};
	enum { PIECE = 65536 };
	uint8_t *subject = malloc(2 * PIECE);
	struct regex *r;
	size_t i, at;

	ck_assert_ptr_nonnull(subject);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct match_case *c = &cases[i];

		ck_assert_int_eq(
			regex_new(bytes_of(c->pattern, c->pattern_size), &r),
			0);
		for (at = PIECE - 4; at < PIECE + 4; at++) {
			memset(subject, i < 2 ? ' ' : 'a', 2 * PIECE);
			memcpy(subject + at, c->subject, c->subject_size);
			ck_assert_msg(regex_match(r,
						  bytes_of(subject, 2 * PIECE),
						  NULL) == c->want,
				      "%s at %zu", c->pattern, at);
		}
		regex_free(r);
	}
	free(subject);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { matches_whole_subjects,
				 matches_as_re2,
				 refuses_what_re2_refuses,
				 heads_are_literal,
				 stays_linear,
				 repeats_and_classes_as_re2,
				 asks_while_it_matches,
				 asks_between_matches,
				 ends_at_its_limit,
				 matches_across_pieces,
				 goes_on_where_it_paused };

	return run_suite("regex", NULL, NULL, tests, 11);
}
