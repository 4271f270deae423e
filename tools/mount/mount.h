#ifndef TOOLS_MOUNT_MOUNT_H
#define TOOLS_MOUNT_MOUNT_H

#include "tools/verb/verb.h"

int verb_mount(struct verb_call *c);

#endif
