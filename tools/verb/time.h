#ifndef TOOLS_VERB_TIME_H
#define TOOLS_VERB_TIME_H

#include "tools/verb/verb.h"

/* A time as words of verbs say it: a moment, or how long ago it was. NULL
 * leaves *us as it is; else that is never 0. 0, or 1 after it said what is
 * wrong. */
int verb_parse_time(struct verb_call *c, const char *text, uint64_t *us);

/* As verb_parse_time, of the store's past: "oldest", too, and no time that is
 * to come by the store's clock, which may be ahead. */
int verb_parse_moment(struct verb_call *c, const char *text, uint64_t *us);

/* The moment of the store's past that as-of=TEXT means, to be released, or with
 * NULL, which is the present, NULL. 0, or 1 after it said what is wrong: which
 * is the oldest, for example. */
int verb_moment(struct verb_call *c, const char *text, struct snapshot **out);

#endif
