#ifndef TOOLS_MOUNT_MOUNT_HELPER_H
#define TOOLS_MOUNT_MOUNT_HELPER_H

#include "tools/verb/verb.h"

/* The program under another name, by which mount(8) calls it: its status. */
bool is_mount_helper(const char *program);
int mount_helper(int argc, char **argv);

#endif
