#include "store/base/err.h"
#include "store/regex.h"
#include "tests/fuzz/target.h"

#define QUESTIONS_MAX 4

static unsigned int asked;

static bool stop(void)
{
	return ++asked > QUESTIONS_MAX;
}

/* Up to the first newline a pattern, then what it is to match. Whatever the
 * pattern is, it is taken or refused, its matches end soon once asked to, and
 * what they begin with is its head. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
	struct bytes pattern =
		bytes_of(data, end ? (size_t)(end - data) : size);
	struct bytes subject =
		bytes_after(bytes_of(data, size), pattern.size + (end != NULL));
	struct regex_watch watch = { .stop = stop };
	struct regex *r;
	int err = regex_new(pattern, &r);

	MUST(err == 0 || err == -ERR_bad_argument);
	if (err < 0)
		return 0;
	asked = 0;
	err = regex_match(r, subject, &watch);
	MUST(asked <= QUESTIONS_MAX + 1);
	MUST(err == 1 || err == 0 || err == -ERR_bad_argument || err == -EINTR);
	MUST(err != 1 || bytes_starts_with(subject, regex_head(r)));
	MUST(!regex_is_literal(r) ||
	     err == bytes_equal(subject, regex_head(r)));
	regex_free(r);
	return 0;
}
