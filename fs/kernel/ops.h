#ifndef FS_KERNEL_OPS_H
#define FS_KERNEL_OPS_H

#include <fuse_lowlevel.h>

/* The request handlers: each decodes, calls, and replies once. */
extern const struct fuse_lowlevel_ops fs_ops;

#endif
