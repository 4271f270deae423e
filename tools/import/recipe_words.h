#ifndef TOOLS_IMPORT_RECIPE_WORDS_H
#define TOOLS_IMPORT_RECIPE_WORDS_H

#include "store/text/recipe/recipe.h"
#include "tools/verb/verb.h"

/*
 * Recipes from the words of a command: recipe=FILE, and WORD=REST for each
 * statement, in their order. What has a / before its = is a file.
 */

/* The part of a word before its =; empty if it has none or is a file. */
struct bytes recipe_word(const char *argument);

/* Whether one of the words from argv[first] on is of a recipe, and not also one
 * of an import without. */
bool recipe_is_meant(const struct verb_call *c, int first);

/* Adds a word that is recipe=FILE or a statement: 1; 0 if it is another; or -1
 * after it said what is wrong. */
int recipe_take(struct verb_call *c, struct recipe *r, const char *argument);

#endif
