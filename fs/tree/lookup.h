#ifndef FS_TREE_LOOKUP_H
#define FS_TREE_LOOKUP_H

#include "fs/cells/cell.h"
#include "fs/state/fs.h"
#include "fs/state/name.h"

/*
 * From a name in a directory to a node. What is found is either in the store,
 * or local: made here and not yet in it.
 */

/*
 * The key that a name stands for, looked up in the store if the name is cut: 1
 * with the key appended, 0 if there is none, or an error.
 */
int lookup_key(struct fs *fs, struct node *directory, enum name_level level,
	       struct bytes name, struct buf *key);

/* The level of the names in a directory of data. */
enum name_level lookup_level(const struct node *directory);
/* The kind of the children of a directory of data, or of its past. */
enum node_kind lookup_kind(const struct node *directory);

/*
 * Answers a lookup of a child in a data directory: 1 with *e filled and
 * remembered for the kernel, 0 if there is no such name, with *e saying how
 * long that holds.
 */
int lookup_child(struct fs *fs, struct node *directory, struct bytes key,
		 struct fuse_entry_param *e);

/* The same for a child that a listing has just seen, as info says: 0, or
 * -EAGAIN if that is old. */
int lookup_listed(struct fs *fs, struct node *directory, struct bytes key,
		  const struct cell_info *info, struct fuse_entry_param *e);

/* Fills *e for a node of data and remembers it. Ends the caller's reference. */
int lookup_reply(struct fs *fs, struct node *node, struct fuse_entry_param *e);
/* The same with attributes that are there, or, with err, are not. */
int lookup_remember(struct fs *fs, struct node *node, int err,
		    struct fuse_entry_param *e);
/* Says how long the kernel may believe that a name is missing. */
void lookup_missing(struct fs *fs, struct fuse_entry_param *e);

#endif
