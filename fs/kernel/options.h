#ifndef FS_KERNEL_OPTIONS_H
#define FS_KERNEL_OPTIONS_H

#include "fs/kernel/mount.h"

void mount_options_init(struct mount_options *o);

/* Parses one -o argument ("quiet,commit=5"); -ERR_bad_argument names the
 * word. Strings point into argument, which is changed. */
int mount_options_parse(struct mount_options *o, char *argument);

#endif
