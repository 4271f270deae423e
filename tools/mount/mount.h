#ifndef TOOLS_MOUNT_MOUNT_H
#define TOOLS_MOUNT_MOUNT_H

#include "tools/verb/verb.h"

/* Mounts a store, which is made if it is missing. 0 once it is served, in the
 * foreground once it has ended; 1 after it said on standard error what is
 * wrong. In the foreground it prints one line when it is served. */
int verb_mount(struct verb_call *c);

#endif
