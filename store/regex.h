#ifndef STORE_REGEX_H
#define STORE_REGEX_H

#include "store/base/buf.h"

/*
 * Regular expressions with RE2's syntax over bytes, as Bigtable's filters take
 * them: the whole subject has to match, a dot is any byte but newline, \C is
 * any byte. Matched by PCRE2's DFA, so in time linear in the subject. What RE2
 * refuses because it cannot be matched so (backreferences, lookaround,
 * recursion, atomic groups, possessive repetition) is refused here as well.
 *
 * One thread at a time uses a regex.
 */
struct regex;

/* 0, -ENOMEM, or -ERR_bad_argument, whose detail says what is wrong with the
 * pattern, which is not kept. */
int regex_new(struct bytes pattern, struct regex **out);

/* NULL is allowed. */
void regex_free(struct regex *r);

/* 1 if it matches, 0 if not, or an error. */
int regex_match(struct regex *r, struct bytes subject);

/* The bytes that every match begins with; often empty. Lives as long as r. */
struct bytes regex_head(const struct regex *r);

/* Whether the head is all that matches. */
bool regex_is_literal(const struct regex *r);

#endif
