#ifndef STORE_TEXT_RECIPE_TEMPLATE_H
#define STORE_TEXT_RECIPE_TEMPLATE_H

#include "store/text/recipe/field.h"
#include "store/text/function/function.h"
#include "store/text/recipe/line.h"

/*
 * A template: text and {FIELD|function|function(argument,...)}; {{ and }} are
 * literal braces. Parsed once; evaluate.h makes bytes of it for a record.
 */

/* Text, or a field with the functions that it goes through. */
struct piece {
	struct bytes text; /* if it is no field; not empty */
	bool is_field;
	bool any;           /* its text may hold the piece behind it */
	bool has_default;   /* it is never absent or empty for want of one */
	size_t field;       /* index into the recipe's fields */
	struct call *calls; /* owned */
	size_t call_count;
};

struct template
{
	struct piece *pieces; /* owned */
	size_t count;
	uint8_t *memory; /* owned; texts and arguments point into it */
};

void template_release(struct template *t);

/*
 * Parses a word. gives is what it has to make: a text, or a moment, which is
 * one field that is a time, or joined of texts. Names go to fields.
 * -ERR_bad_argument with line and column, or -ENOMEM; what *t holds is to be
 * released in any case.
 */
int template_parse(const struct line *l, const struct word *w,
		   enum value_type gives, struct fields *fields,
		   struct template *t);

/* Whether it is one field that is a time. */
bool template_is_time(const struct template *t);

/* All of it is text: then *text is it; else false. */
bool template_is_text(const struct template *t, struct bytes *text);

#endif
