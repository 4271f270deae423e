#ifndef STORE_TEXT_RECIPE_STATEMENT_H
#define STORE_TEXT_RECIPE_STATEMENT_H

#include "store/text/recipe/recipe_state.h"

/* One statement of a recipe, from the words of a line. */

void statement_release(struct statement *s);

/* Which kind the first word names: true with *kind, or false. */
bool statement_kind(struct bytes word, enum statement_kind *kind);

/* Whether several of a kind stand side by side; else the last counts. */
bool statement_accumulates(enum statement_kind kind);

/* Parses the words behind the first. Fields go to r, and what is about the
 * source is set in it. Errors as those of recipe.h; what *s holds is to be
 * released in any case. */
int statement_parse(struct recipe *r, const struct line *l,
		    enum statement_kind kind, struct statement *s);

#endif
