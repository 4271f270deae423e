#ifndef STORE_MODEL_FILTER_REGEX_REWRITE_H
#define STORE_MODEL_FILTER_REGEX_REWRITE_H

#include "store/base/buf.h"

#define REGEX_NESTED_MAX 1000 /* groups inside one another, as RE2's */

/* A pattern of RE2's over bytes in PCRE2's words. */
struct regex_rewritten {
	struct buf pattern;
	struct buf head; /* the bytes that every match begins with */
	bool is_literal; /* nothing but the head matches */
};

/* 0, -ENOMEM, or -ERR_bad_argument, which says what is wrong with the pattern.
 * The buffers are the caller's, also on failure. */
int regex_rewrite(struct bytes pattern, struct regex_rewritten *out);

#endif
