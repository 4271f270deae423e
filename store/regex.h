#ifndef STORE_REGEX_H
#define STORE_REGEX_H

#include "store/base/buf.h"

/*
 * Regular expressions with RE2's syntax over bytes, as Bigtable's filters take
 * them: the whole subject has to match, a dot is any byte but newline, \C is
 * any byte. Matched by PCRE2's DFA, so in time linear in the subject. What RE2
 * refuses because it cannot be matched so (backreferences, lookaround,
 * recursion, atomic groups, possessive repetition) is refused here as well.
 * Beyond RE2, so are patterns of more than about 64 KiB, repetitions counted as
 * often as they may occur, and matches that are at more than 8,192 places of
 * the pattern at once.
 *
 * One thread at a time uses a regex.
 */
struct regex;

/* Over all matches of one scan, or of one update: when they have to end. Some
 * milliseconds of matching lie between two looks, or a byte of a subject that
 * is at thousands of places of the pattern. */
struct regex_watch {
	/* If not NULL, asked now and then; once it is true, the match ends with
	 * -EINTR. */
	bool (*stop)(void);
	/* If not NULL, asked as often; once it is true, the match is left with
	 * -EAGAIN, to go on with. */
	bool (*pause)(void);
	/* If not 0, the processor time that the matches may take from the first
	 * one on; after it they end with -ERR_bad_argument. */
	uint64_t limit_ns;
	/* Of regex.c; 0 at first: work since the last look, and when the thread
	 * began. */
	uint64_t work, begun_ns;
};
/* How much work, by a count of their own, lies between two looks: about a
 * millisecond at most. */
#define REGEX_WATCH_WORK (UINT64_C(1) << 22)
/* For what others have to wait for. */
#define REGEX_LOCKED_NS UINT64_C(100000000)

/* Counts other work of the same scan or update, which has no limit: 0, or as a
 * match would end. w may be NULL. */
int regex_watched(struct regex_watch *w, uint64_t work);

/* Asks stop at once, and not pause: 0 or -EINTR. For work that cannot be left
 * and gone on with. */
int regex_stopped(const struct regex_watch *w);

/* -ERR_bad_argument says what is wrong with the pattern. */
int regex_new(struct bytes pattern, struct regex **out);
void regex_free(struct regex *r);
/* 1 if it matches, 0 if not, or an error. w may be NULL. After -EAGAIN the next
 * call, with the same subject, goes on with the match, by a piece of it at
 * least; or regex_forget comes before it. */
int regex_match(struct regex *r, struct bytes subject, struct regex_watch *w);
void regex_forget(struct regex *r);
/* The bytes that every match begins with; often empty. Lives as long as r. */
struct bytes regex_head(const struct regex *r);
/* Nothing but the head matches. */
bool regex_is_literal(const struct regex *r);

#endif
