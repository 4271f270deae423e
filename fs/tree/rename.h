#ifndef FS_TREE_RENAME_H
#define FS_TREE_RENAME_H

#include "fs/state/fs.h"

/*
 * rename(2) and renameat2(2), from name in directory to to_name in to; names as
 * in the request, flags renameat2's. Holds fs->tree alone. 0, or:
 *
 *   -EXDEV         to another directory, or a row too large for one batch
 *   -EROFS -EPERM  in the past, or in a control directory; a control name; onto
 *                  a cell of an aggregate family
 *   -EEXIST        RENAME_NOREPLACE and a target that exists
 *   -EINVAL        RENAME_EXCHANGE of anything but cells, or unknown flags
 *   -ENOTEMPTY     a row onto one with a cell or a directory, or onto a table
 *   -ENAMETOOLONG  a cut name that no key has
 *
 * and errors of tree_key, of lookups and of the store.
 */
int tree_rename(struct fs *fs, struct node *directory, struct bytes name,
		struct node *to, struct bytes to_name, unsigned int flags)
	EXCLUDES(fs->tree);

#endif
