#ifndef FS_KERNEL_ENTRY_H
#define FS_KERNEL_ENTRY_H

#include "fs/state/fs.h"

/*
 * What the kernel asks of any name and any node, of data or of control: the one
 * place that decides which of the two a name is.
 */

/* Looks name up in directory: 1 with *e filled and remembered for the kernel,
 * who owes a forget; 0 if there is no such name, with *e saying how long that
 * holds; or an error. */
int entry_lookup(struct fs *fs, struct node *directory, struct bytes name,
		 struct fuse_entry_param *e);

/* Attributes of node, and for how many seconds at most the kernel may keep
 * them. -ENOENT if it has gone. */
int entry_attr(struct fs *fs, struct node *node, struct stat *st,
	       double *timeout);

#endif
