#ifndef STORE_TEXT_RECIPE_EVALUATE_H
#define STORE_TEXT_RECIPE_EVALUATE_H

#include "store/text/recipe/record.h"
#include "store/text/recipe/template.h"

/*
 * Templates made into bytes, for a record. Refusals are -ERR_bad_line and name
 * the field.
 */
struct evaluation {
	const struct fields *fields; /* borrowed */
	int zone_s;                  /* of times that tell none */
	const struct record *record; /* borrowed */
	struct buf source;           /* what a field's value was made into */
	struct buf joined;           /* of a time */
	struct buf scratch[2];       /* what functions make, in turn */
};

void evaluation_release(struct evaluation *e);

/* Appends the text to out: 0, or 1 if a field of it is absent, and then out is
 * as before. */
int evaluate_text(struct evaluation *e, const struct template *t,
		  struct buf *out);

/*
 * Appends a row key to out. A field that is absent or empty refuses the record;
 * so does one in which the text behind it begins, since the key could then be
 * that of another record as well, unless it went through any.
 */
int evaluate_key(struct evaluation *e, const struct template *t,
		 struct buf *out);

/* A moment, of a template that gives one: 0, or 1 if it is absent. */
int evaluate_time(struct evaluation *e, const struct template *t, int64_t *us);

#endif
