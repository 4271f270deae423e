#ifndef STORE_TEXT_RECIPE_ROW_JSON_H
#define STORE_TEXT_RECIPE_ROW_JSON_H

#include "store/text/recipe/apply.h"

/* Appends the row as a mutation, a line of JSON as an import of JSON lines
 * takes it: what is set, and what is added, whose time is always said. 0 or
 * -ENOMEM. */
int row_json(const struct recipe_row *row, struct buf *out);

#endif
