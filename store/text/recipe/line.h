#ifndef STORE_TEXT_RECIPE_LINE_H
#define STORE_TEXT_RECIPE_LINE_H

#include "store/base/buf.h"

/*
 * A line of a recipe as words, parted by blanks. '...' keeps blanks, and '' in
 * it is a quote; blanks inside {} do not part, and "..." inside {} is left to
 * the template, as {{ is. A # where a word could begin starts a comment.
 */
#define LINE_WORDS_MAX 8

struct word {
	struct bytes text;       /* without the quotes around it */
	const uint32_t *columns; /* of each byte, and of the end; from 1 */
};

/* Text and columns lie in memory, which the caller frees; the rest is borrowed
 * for as long as the line is parsed. */
struct line {
	const char *name;    /* of the recipe, for messages */
	unsigned int number; /* from 1; 0: the name alone says where */
	struct bytes source;
	struct word words[LINE_WORDS_MAX];
	unsigned int count;
	void *memory; /* from malloc */
};

/* Cuts l->source, of up to 1 MiB and without its end, into words: 0, with no
 * words if it is blank or a comment; -ERR_bad_argument tells line and column,
 * or -ENOMEM. l->memory is set in any case, NULL or not. */
int line_split(struct line *l);

/* "NAME:LINE:COLUMN: message", of the byte at this offset of a word: always
 * -ERR_bad_argument. The message may be err_detail(). */
int line_wrong(const struct line *l, const struct word *w, size_t at,
	       const char *message);
/* The same with a column. */
int line_wrong_at(const struct line *l, uint32_t column, const char *message);

#endif
