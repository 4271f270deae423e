#ifndef TOOLS_MOUNT_UMOUNT_H
#define TOOLS_MOUNT_UMOUNT_H

#include "tools/verb/verb.h"

int verb_umount(struct verb_call *c);

#endif
