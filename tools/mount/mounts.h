#ifndef TOOLS_MOUNT_MOUNTS_H
#define TOOLS_MOUNT_MOUNTS_H

#include "tools/verb/verb.h"

int verb_mounts(struct verb_call *c);

#endif
