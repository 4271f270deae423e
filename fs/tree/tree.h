#ifndef FS_TREE_TREE_H
#define FS_TREE_TREE_H

#include "fs/open/draft.h"
#include "fs/state/fs.h"

/*
 * Names made, removed and renamed. Directories of rows and families are the
 * cells beneath them; mkdir makes one that lives in memory until it has a cell.
 * Names are as in the request, keys as decoded. 0 or an error.
 */

/* The key for a name that is to be made: -EINVAL for another spelling,
 * -ENAMETOOLONG past what a path can say or Bigtable allows, -EPERM for a
 * reserved name. */
int tree_key(struct node *directory, struct bytes name, struct buf *key);

int tree_mkdir(struct fs *fs, struct node *directory, struct bytes name);
int tree_rmdir(struct fs *fs, struct node *directory, struct bytes name);
int tree_unlink(struct fs *fs, struct node *directory, struct bytes name);
/* A new, empty file in a family: its node, referenced, and open draft, which
 * commits with its first flush. -EEXIST. */
int tree_create(struct fs *fs, struct node *directory, struct bytes name,
		mode_t mode, struct node **node, struct draft **draft);

#endif
