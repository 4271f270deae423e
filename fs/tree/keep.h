#ifndef FS_TREE_KEEP_H
#define FS_TREE_KEEP_H

#include "fs/state/fs.h"

/*
 * Directories that stay when their last cell goes. A row or family is there
 * while it has a cell; but who removes through paths what is in a directory
 * expects to find that still there, to remove it too.
 */

/* After a column was removed through a path: what no longer has a cell, of
 * family, a node of a family, and its row, becomes local, so that rm -r can
 * remove it. 0 or an error of the store, when some may not have become so. */
int tree_keep_directories(struct fs *fs, struct node *family)
	NEEDS_SHARED(fs->tree);

#endif
