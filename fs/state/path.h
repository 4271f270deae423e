#ifndef FS_STATE_PATH_H
#define FS_STATE_PATH_H

#include "fs/state/node.h"

/*
 * Where a node is: its path in key bytes, its path as text; and the names that
 * a directory has in memory only. Each call takes nodes.lock
 * once, so that what it tells is of one moment; a rename may make it old at
 * once, which fs->tree keeps from happening.
 */

/* Most paths are shorter than this, and cost no allocation. */
#define PATH_ROOM 256

/* A path; what does not apply is empty. It points into itself: do not copy. */
struct path {
	struct bytes table, row, family, qualifier;
	struct bytes leaf; /* the node's own name, whatever its kind */
	uint8_t room[PATH_ROOM];
	uint8_t *memory; /* if room was too small; owned */
};

/* Fills *out, which is to be released. 0, or -ENOMEM; a path that was refused
 * may be released as well. */
int node_path(struct nodes *nodes, struct node *node, struct path *out);
void path_release(struct path *path);

/* Where a node of this kind puts its name; NULL: nowhere. Who looks for a child
 * sets that part of the directory's path to the child's key, which must live as
 * long as the path is used. */
struct bytes *path_part(struct path *path, enum node_kind kind);

/* Appends the path as seen from the mount point, names escaped, for messages.
 * 0 or -ENOMEM. */
int node_print_path(struct nodes *nodes, struct node *node, struct buf *out);

/* Adds the names of a directory's local children from the name from on, the
 * first by some bytes more than most; *more tells whether others come behind
 * them. To be sorted. 0 or -ENOMEM. */
int node_add_locals(struct nodes *nodes, struct node *parent, struct bytes from,
		    size_t most, struct names *out, bool *more);
/* Appends the name of the local child that begins with head and has this hash
 * (name_hash): 1, 0 if there is none, or -ENOMEM. */
int node_find_local(struct nodes *nodes, struct node *parent, struct bytes head,
		    uint64_t hash, struct buf *name);
bool node_has_locals(struct nodes *nodes, struct node *parent);

#endif
