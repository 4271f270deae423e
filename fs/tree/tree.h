#ifndef FS_TREE_TREE_H
#define FS_TREE_TREE_H

#include "fs/open/draft.h"
#include "fs/tree/access.h"

/*
 * Names made and removed; for renames see rename.h. Directories of rows and
 * families are the cells beneath them; mkdir makes one that lives in memory
 * until it has a cell. Names are as in the request (not empty, a NUL behind
 * them), keys as decoded. From any thread; who changes the
 * store may wait for a disk. 0 or an error: -EROFS in the past, -EPERM where
 * nothing may be made or removed, -ENOENT, and errors of the store.
 */

/* The key for a name that is to be made, appended to key: -EINVAL for a raw
 * control byte, -ENAMETOOLONG past what a path can say or Bigtable allows,
 * -EPERM for a reserved name; the reason tells how to spell what was meant. */
int tree_key(struct node *directory, struct bytes name, struct buf *key);

/* A table, a row, a family of a row or, in .schema, one of the table, which is
 * durable. Of maker's mode only a table takes notice. -EEXIST; -EPERM for a new
 * family with -o strictschema. */
int tree_mkdir(struct fs *fs, struct node *directory, struct bytes name,
	       const struct maker *maker) EXCLUDES(fs->tree);

/* The reverse. -ENOTEMPTY if there is a cell, or a directory in memory, in it,
 * or, in .schema, a cell of that family in any row. */
int tree_rmdir(struct fs *fs, struct node *directory, struct bytes name)
	EXCLUDES(fs->tree);

/* A cell with all its versions, or in .versions/<qualifier> one of them. Its
 * directories stay, see keep.h. */
int tree_unlink(struct fs *fs, struct node *directory, struct bytes name)
	EXCLUDES(fs->tree);

/* A new, empty file in a family: its node, referenced, and open draft, which
 * commits with its first flush; NULL, if the family is of an aggregate type.
 * Close it as DRAFT_CREATE. -EEXIST. On an error neither is to be used. */
int tree_create(struct fs *fs, struct node *directory, struct bytes name,
		const struct maker *maker, struct node **node,
		struct draft **draft) EXCLUDES(fs->tree);

#endif
