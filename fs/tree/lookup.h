#ifndef FS_TREE_LOOKUP_H
#define FS_TREE_LOOKUP_H

#include "fs/cells/cell.h"
#include "fs/state/fs.h"
#include "fs/state/name.h"

/*
 * From a name in a directory to a node. What is found is either in the store,
 * or local: made here and not yet in it. From any thread; they may take a
 * draft's lock.
 *
 * Where one fills *e for the kernel, it counts as told to it: if the reply
 * cannot be sent, or is not meant for the kernel, node_forget takes that back.
 */

/* The level of the names in a directory of data, its past, or a control
 * directory whose names are keys; elsewhere NAME_VALUE. */
enum name_level lookup_level(const struct node *directory);

/* The kind of the children that are keys, or timestamps, of a directory of
 * data, or of its past. */
enum node_kind lookup_kind(const struct node *directory);

/*
 * The key that a name stands for, looked up in the store and among what is
 * local if the name is cut: 1 with the key in *key, which comes empty, 0 if
 * there is none, or an error. That there is such a key does not mean that there
 * is a row or cell of it. Only a cut name takes long: it scans the keys that
 * begin as it does, or all columns before it, and may be interrupted.
 */
int lookup_key(struct fs *fs, struct node *directory, enum name_level level,
	       struct bytes name, struct buf *key) EXCLUDES(fs->tree);

/*
 * Answers a lookup of a child in a data directory: 1 with *e filled and
 * remembered for the kernel, 0 if there is no such name, with *e saying how
 * long that holds, or an error.
 */
int lookup_child(struct fs *fs, struct node *directory, struct bytes key,
		 struct fuse_entry_param *e) NEEDS_SHARED(fs->tree);

/* lookup_child for a child that a listing has just seen, as info says: 0, or
 * -EAGAIN if that is old, or another error. */
int lookup_listed(struct fs *fs, struct node *directory, struct bytes key,
		  const struct cell_info *info, struct fuse_entry_param *e)
	NEEDS_SHARED(fs->tree);

/* Fills *e for a node of data and remembers it. Ends the caller's reference,
 * also with an error. */
int lookup_reply(struct fs *fs, struct node *node, struct fuse_entry_param *e)
	NEEDS_SHARED(fs->tree);

/* Ends a lookup that found node: with err 0, *e has its attributes and
 * attr_timeout, and gets the rest. Returns err, and ends the caller's reference
 * in any case. */
int lookup_remember(struct fs *fs, struct node *node, int err,
		    struct fuse_entry_param *e);

/* Fills *e for a name that is missing: how long the kernel may believe that. */
void lookup_missing(struct fs *fs, struct fuse_entry_param *e);

#endif
