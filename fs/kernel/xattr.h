#ifndef FS_KERNEL_XATTR_H
#define FS_KERNEL_XATTR_H

#include "fs/state/fs.h"

/*
 * With -o xattr, data has attributes that can be read, but are not listed:
 *
 *   user.tabletfs.key         the key's bytes, of tables, rows, families, cells
 *   user.tabletfs.timestamp   of a cell's newest version, in microseconds
 *   user.tabletfs.versions    how many versions a cell has
 *   user.tabletfs.family_gc   the policy of a family, or of a cell's family
 *
 * Without, the answer is ENOSYS, and the kernel never asks again. The handlers
 * reply exactly once, from any thread; size is the caller's buffer, 0 asks how
 * large it must be.
 */
void xattr_on_get(fuse_req_t req, fuse_ino_t ino, const char *name,
		  size_t size);
void xattr_on_list(fuse_req_t req, fuse_ino_t ino, size_t size);

#endif
