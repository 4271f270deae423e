#ifndef STORE_TEXT_RECIPE_CONDITION_H
#define STORE_TEXT_RECIPE_CONDITION_H

#include "store/regex.h"
#include "store/text/recipe/evaluate.h"

/*
 * When a record is skipped: TEMPLATE OPERATOR TEMPLATE, or TEMPLATE and one of
 * exists, empty.
 *
 *   =  !=     bytewise; an absent value is not equal to any
 *   <  >      as numbers if both are decimal ones, else bytewise; false if one
 *             is absent
 *   ~         RE2, over all of the value; false if it is absent
 *   exists    is not absent
 *   empty     is absent or has no byte
 */
enum condition_test {
	CONDITION_EQUAL,
	CONDITION_UNEQUAL,
	CONDITION_LESS,
	CONDITION_GREATER,
	CONDITION_MATCHES,
	CONDITION_EXISTS,
	CONDITION_EMPTY,
};

struct condition {
	enum condition_test test;
	struct template left, right; /* right of the first four */
	struct regex *regex;         /* owned; of CONDITION_MATCHES */
};

void condition_release(struct condition *c);

/* Parses the words of l from first on. As template_parse. */
int condition_parse(const struct line *l, unsigned int first,
		    struct fields *fields, struct condition *c);

/* Whether it holds: 1, 0, or an error as those of evaluate_text. left and right
 * are memory for the values. */
int condition_holds(const struct condition *c, struct evaluation *e,
		    struct buf *left, struct buf *right);

#endif
