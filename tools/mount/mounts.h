#ifndef TOOLS_MOUNT_MOUNTS_H
#define TOOLS_MOUNT_MOUNTS_H

#include "tools/verb/verb.h"

/* Prints a line for each mount of tabletfs that this process sees, with tabs
 * between its columns: store, place, pid, since when, and why the last two are
 * not known. 0, also if a daemon died or hangs; 1 if the table of mounts cannot
 * be read. Waits two seconds for each at most. */
int verb_mounts(struct verb_call *c);

#endif
