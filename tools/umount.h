#ifndef TOOLS_UMOUNT_H
#define TOOLS_UMOUNT_H

#include "tools/verb.h"

int verb_umount(struct verb_call *c);

#endif
