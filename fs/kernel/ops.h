#ifndef FS_KERNEL_OPS_H
#define FS_KERNEL_OPS_H

#include <fuse_lowlevel.h>

/*
 * The request handlers, for a session whose userdata is its struct fs. Each
 * decodes, calls, and replies exactly once; any thread may be the caller. What
 * is not in the table libfuse answers with ENOSYS.
 */
extern const struct fuse_lowlevel_ops fs_ops;

#endif
