#ifndef TOOLS_IMPORT_KEY_H
#define TOOLS_IMPORT_KEY_H

#include "tools/verb/verb.h"

/* key: the row keys that a recipe makes of fields, FIELD=VALUE, a line each. 0,
 * or 1 after it said what is wrong. */
int verb_key(struct verb_call *c);

#endif
