#ifndef TOOLS_ADMIN_RECIPE_H
#define TOOLS_ADMIN_RECIPE_H

#include "tools/verb/verb.h"

/* Recipes that are stored with a table: lists, shows, sets or removes one. What
 * is set comes as text=RECIPE, which recipe_bring makes of a file. */
int verb_recipe(struct verb_call *c);

/* Replaces the file that a verb recipe names, in the process that was given it,
 * by its content, which lies in text then; leaves other words as they are. 0,
 * or 1 after it said what is wrong. */
int recipe_bring(struct verb_call *c, struct buf *text);

#endif
