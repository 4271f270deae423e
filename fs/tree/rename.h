#ifndef FS_TREE_RENAME_H
#define FS_TREE_RENAME_H

#include "fs/tree/tree.h"

/* flags are renameat2's. */
int tree_rename(struct fs *fs, struct node *directory, struct bytes name,
		struct node *to, struct bytes to_name, unsigned int flags);

#endif
