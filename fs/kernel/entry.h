#ifndef FS_KERNEL_ENTRY_H
#define FS_KERNEL_ENTRY_H

#include "fs/state/fs.h"

/* What the kernel asks of any name and any node, of data or of control. */

/* 1 with *e filled and remembered for the kernel, 0 if there is no such name,
 * with *e saying how long that holds, or an error. */
int entry_lookup(struct fs *fs, struct node *directory, struct bytes name,
		 struct fuse_entry_param *e);
/* Attributes, and how long they hold. -ENOENT if it has gone. */
int entry_attr(struct fs *fs, struct node *node, struct stat *st,
	       double *timeout);

#endif
