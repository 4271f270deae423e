#ifndef TOOLS_IMPORT_REMOTE_RECIPE_H
#define TOOLS_IMPORT_REMOTE_RECIPE_H

#include "tools/verb/remote.h"

/* import by a recipe for a store that is mounted: this process makes rows of
 * the files and streams them, as JSON lines, into the table's .import file.
 * Prints and returns what verb_import_by_recipe does. */
int remote_recipe(struct verb_call *c, const struct served *served);

#endif
