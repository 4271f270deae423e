#ifndef TOOLS_IMPORT_KEY_H
#define TOOLS_IMPORT_KEY_H

#include "tools/verb/verb.h"

/* key: the row keys that a recipe makes of fields, FIELD=VALUE, a line each. 0,
 * or 1 after it said what is wrong. */
int verb_key(struct verb_call *c);

/* Whether it names a table, first, whose recipes are meant then: it needs the
 * store. */
bool key_has_table(const struct verb_call *c);

/* The same with the store mounted, at root. */
int key_at(struct verb_call *c, int root);

#endif
