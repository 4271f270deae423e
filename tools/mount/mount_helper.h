#ifndef TOOLS_MOUNT_MOUNT_HELPER_H
#define TOOLS_MOUNT_MOUNT_HELPER_H

#include "tools/verb/verb.h"

/*
 * The program under another name, by which mount(8) calls it for file systems
 * of type fuse.tabletfs. It takes the words of mount(8), and nothing else of
 * tabletfs applies to them.
 */

/* Whether the program was called by that name, argv[0]. */
bool is_mount_helper(const char *program);

/* Mounts what the words of mount(8) say: the exit status, 0 or 1. */
int mount_helper(int argc, char **argv);

#endif
