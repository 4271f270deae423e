#ifndef TOOLS_DATA_SELECT_H
#define TOOLS_DATA_SELECT_H

#include "tools/verb/verb.h"

/*
 * What read, lookup and count are asked for: filled from their words by
 * select_parse, ended by select_words_release in every case.
 */
struct select_words {
	struct select select; /* owned: rows, cells, order, limit */
	bool stats;           /* a summary is wanted */
	bool explained; /* not the rows are wanted, but how they are read */
	bool paged;     /* and a token for the rows that the limit left */
	/* For verb_moment, which takes NULL for the present. */
	const char *as_of, *from, *to;
};

/* Which words a verb knows. */
enum select_verb {
	SELECT_READ,   /* all */
	SELECT_LOOKUP, /* no ranges: the key argv[2] and others by key= */
	SELECT_COUNT,  /* nothing about cells but filter= */
	SELECT_ROWS,   /* nothing but which rows, and as-of= */
	SELECT_DIFF,   /* which rows, from= and to= */
};

/* Takes the words of the verb, which has its table and a lookup its key. 0, or
 * 1 after it said what is wrong. */
int select_parse(struct verb_call *c, enum select_verb verb,
		 struct select_words *words);
void select_words_release(struct select_words *words);

#endif
