#include <re2/re2.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <string>

/*
 * Random patterns and subjects: compare SEED COUNT. Whether a pattern is taken
 * and what it matches must be as in RE2 itself, over Latin-1. Only what PCRE2
 * calls too large may be refused besides. store/regex.h is C, so what is used of
 * it is declared again.
 */
struct bytes {
	const uint8_t *data;
	size_t size;
};
extern "C" {
int regex_new(struct bytes pattern, struct regex **out);
void regex_free(struct regex *r);
int regex_match(struct regex *r, struct bytes subject, void *watch);
const char *err_detail(void);
}

static const char *const parts[] = {
	"a", "b", "A", "\\x41", "\xe9", "\xc9", "\xb5", "\xdf", "\xff", "k",
	"1", "_", "-", " ", "\n", "\\n", "\\v", ".", ".*", "^", "$", "\\A",
	"\\z", "\\b", "\\B", "\\C", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S",
	"\\pL", "\\p{Lu}", "\\P{Ll}", "\\p{^Lu}", "\\p{Greek}", "\\PN",
	"\\p{Latin}", "\\p{Common}", "\\p{Any}", "\\P{Any}", "\\p{Yi}",
	"\\p{latin}", "\\p{Zz}", "\\p{L&}", "(", "(", "(?:", "(?P<n>",
	"(?P<1a>", "(?i)", "(?s)", "(?m)", "(?U)", "(?i:", "(?-i)", "(?im-s:",
	"(?-m:", ")", ")", ")", "|", "|", "*", "+", "?", "*?", "+?", "??",
	"{2}", "{2,}", "{0,2}", "{1,3}?", "{,2}", "{01}", "{0}", "{1000}",
	"{30}", "{40}", "{3,2}", "[", "[^", "]", "[a-c]", "[^a]", "[\\w-.]",
	"[\\d-a]", "[a-", "[[:alpha:]]", "[[:^upper:]]", "[:", "[[:foo:]]",
	"[[:<:]]", "\\]", "\\Q", "\\E", "\\Q\\E", "\\Qa*\\E", "\\0", "\\12",
	"\\101", "\\1", "\\x{e9}", "\\x{100}", "\\xf", "\\_", "\\-", "\\\xe9",
	"\\.", "\\e", "[\\p{Lu}]", "[^\\PL]", "[a-\\d]", "[--a]", "[]a]",
	"[^]a]", "[a\\-z]", "[z-a]", "[\\b]", "\\Z",
};
static const char letters[] = "aaabbbAAk1_- \n\v\xe9\xc9\xb5\xdf\xff\xd7\xf7.*B";

static uint64_t state;

static unsigned int below(unsigned int n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(state >> 33) % n;
}

static struct bytes bytes_of(const std::string &s)
{
	return { reinterpret_cast<const uint8_t *>(s.data()), s.size() };
}

static std::string random_pattern()
{
	std::string pattern;
	unsigned int count = 1 + below(9);

	while (count-- > 0)
		pattern += parts[below(sizeof(parts) / sizeof(parts[0]))];
	return pattern;
}

static bool agrees_about(const RE2 &want, struct regex *r,
			 const std::string &pattern)
{
	for (int i = 0; i < 8; i++) {
		std::string subject;
		unsigned int size = below(20) ? below(7) : below(90);
		int got;

		while (size-- > 0)
			subject += letters[below(sizeof(letters) - 1)];
		got = regex_match(r, bytes_of(subject), nullptr);
		if (got == RE2::FullMatch(subject, want))
			continue;
		printf("<%s> and <%s>: %d, not as RE2\n", pattern.c_str(),
		       subject.c_str(), got);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 20000, taken = 0, failed = 0;
	RE2::Options options(RE2::Latin1);

	state = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1;
	options.set_log_errors(false);
	for (long i = 0; i < count; i++) {
		std::string pattern = random_pattern();
		RE2 want(pattern, options);
		struct regex *r;
		int err = regex_new(bytes_of(pattern), &r);

		if (err < 0 && want.ok() &&
		    std::string(err_detail()).find("too large") !=
			    std::string::npos)
			continue;
		if ((err == 0) != want.ok()) {
			printf("<%s>: %s, RE2: %s\n", pattern.c_str(),
			       err ? err_detail() : "taken",
			       want.ok() ? "taken" : want.error().c_str());
			failed++;
		} else if (err == 0) {
			taken++;
			failed += !agrees_about(want, r, pattern);
		}
		regex_free(r);
	}
	printf("%ld passed, %ld failed, 0 skipped\n", taken, failed);
	return failed > 0 || taken == 0;
}
