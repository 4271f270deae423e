#ifndef FS_STATE_PATH_H
#define FS_STATE_PATH_H

#include "fs/state/node.h"

/* Adds the names of a directory's local children. 0 or -ENOMEM. */
int node_add_locals(struct nodes *nodes, struct node *parent,
		    struct names *out);
bool node_has_locals(struct nodes *nodes, struct node *parent);
int node_path(struct nodes *nodes, struct node *node, struct path *out);
void path_release(struct path *path);

/* Where a node of this kind puts its name; NULL: nowhere. */
struct bytes *path_part(struct path *path, enum node_kind kind);

/* st_ino of a child, from its directory's. Never 0 or 1. */
uint64_t ino_of_child(uint64_t parent_ino, enum node_kind kind,
		      struct bytes name);
uint64_t node_ino(struct nodes *nodes, struct node *node);

/* The same of data, by its path. */
uint64_t path_ino(const struct path *path, enum node_kind kind);

/* Appends the path as seen from the mount point, for messages. */
int node_print_path(struct nodes *nodes, struct node *node, struct buf *out);

#endif
