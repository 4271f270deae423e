#ifndef FS_TREE_KEEP_H
#define FS_TREE_KEEP_H

#include "fs/tree/tree.h"

/* After a column was removed through a path: what no longer has a cell becomes
 * local, so that rm -r can remove it. */
int tree_keep_directories(struct fs *fs, struct node *family);

#endif
