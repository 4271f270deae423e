#ifndef TOOLS_ADMIN_INSPECT_H
#define TOOLS_ADMIN_INSPECT_H

#include "tools/verb/verb.h"

/* Shows a file of a store, or each in a directory, as store/inspect.h says; it
 * opens no store. 0, or 1 if something is wrong or cannot be read. */
int verb_inspect(struct verb_call *c);

#endif
