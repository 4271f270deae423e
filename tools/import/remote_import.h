#ifndef TOOLS_IMPORT_REMOTE_IMPORT_H
#define TOOLS_IMPORT_REMOTE_IMPORT_H

#include "tools/verb/remote.h"

/* import for a store that is mounted: streams the input, which is opened by
 * this process, into the table's .import file. Prints and returns what
 * verb_import does. */
int remote_import(struct verb_call *c, const struct served *served);

#endif
