#ifndef TOOLS_ADMIN_BACKUP_H
#define TOOLS_ADMIN_BACKUP_H

#include "fs/kernel/served.h"
#include "tools/verb/verb.h"

/* Adds a backup to a directory of them; prints which, how many files are
 * shared, linked and copied, and their bytes. 0, or 1 after it said what is
 * wrong. */
int verb_backup(struct verb_call *c);

/* The same of a store that is mounted: its daemon pins it, and the files are
 * brought here. */
int remote_backup(struct verb_call *c, const struct served *served);

/* A line for each backup in a directory: its moment, its bytes, and those that
 * only it has. 0, or 1 after it said what is wrong. */
int verb_backups(struct verb_call *c);

#endif
