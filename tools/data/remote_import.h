#ifndef TOOLS_DATA_REMOTE_IMPORT_H
#define TOOLS_DATA_REMOTE_IMPORT_H

#include "tools/verb/remote.h"

/* import: streams the input into the table's .import file. */
int remote_import(struct verb_call *c, const char *mount_point);

#endif
