#ifndef TOOLS_ADMIN_BACKUP_H
#define TOOLS_ADMIN_BACKUP_H

#include "fs/kernel/served.h"
#include "tools/verb/verb.h"

/* Makes a directory a copy of the store; prints how many files were linked and
 * copied, and their bytes. 0, or 1 after it said what is wrong. */
int verb_backup(struct verb_call *c);

/* The same of a store that is mounted: its daemon pins it, and the files are
 * brought here. */
int remote_backup(struct verb_call *c, const struct served *served);

#endif
