#ifndef TOOLS_IMPORT_RECIPE_WORDS_H
#define TOOLS_IMPORT_RECIPE_WORDS_H

#include "store/text/recipe/recipe.h"
#include "tools/verb/verb.h"

/*
 * Recipes from the words of a command: recipe=FILE or recipe=NAME, and
 * WORD=REST for each statement, in their order. What has a / before its = is a
 * file.
 *
 * A FILE is what has a / in it, or is there; all else is the NAME of a recipe
 * that is stored with the table.
 */

/* Where stored recipes are: with this table of the verb's store or, if root is
 * not -1, of the mount whose root that is. */
struct recipe_home {
	const char *table;
	int root;
};

/* The part of a word before its =; empty if it has none or is a file. */
struct bytes recipe_word(const char *argument);

/* Whether one of the words from argv[first] on is of an import by a recipe, and
 * not also one of an import without. */
bool recipe_is_meant(const struct verb_call *c, int first);

/* The same, of an import that writes nothing. */
bool recipe_is_dry(const struct verb_call *c, int first);

/* Adds a word that is recipe= or a statement: 1; 0 if it is another; or -1
 * after it said what is wrong. home is NULL where there are files only. */
int recipe_take(struct verb_call *c, struct recipe *r, const char *argument,
		const struct recipe_home *home);

/* Reads the text of a recipe from a file, at most a byte more than one may
 * have; - is standard input. 0 or an error with its reason. */
int recipe_read(const char *path, struct buf *text);

#endif
