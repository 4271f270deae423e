#ifndef TOOLS_MOUNT_UMOUNT_H
#define TOOLS_MOUNT_UMOUNT_H

#include "tools/verb/verb.h"

/* Ends a mount and waits until its daemon has closed the store: 0, and prints
 * nothing. 1 says what is wrong: it is in use, nothing is mounted there, or the
 * store is not closed within a minute. */
int verb_umount(struct verb_call *c);

#endif
