#ifndef FS_STATE_INO_H
#define FS_STATE_INO_H

#include "fs/state/node.h"

/*
 * Inode numbers. A file's is a hash of its path in key bytes, so that it is the
 * same after a remount; but a number belongs to one file as long as somebody
 * has that open: an open file keeps its number over renames, and what takes its
 * name gets another one until the last close. What programs rely on who ask if
 * a file was replaced: tail -F, log rotation, a lock that is a file.
 *
 * Only open cells have an entry here. The calls take nodes.lock; those that
 * only compute take none.
 */
struct path;

/* st_ino of the root. */
#define ROOT_INO 1

/* The hash of a child's path, from its directory's. Never 0 or ROOT_INO. */
uint64_t ino_of_child(uint64_t parent_ino, enum node_kind kind,
		      struct bytes name);

/* The hash of a node's path, whatever its kind. Of all but cells that is
 * st_ino. */
uint64_t node_ino(struct nodes *nodes, struct node *node);

/* The hash of a path of data below the root: what node_ino is of its node. */
uint64_t path_ino(const struct path *path, enum node_kind kind);

/* st_ino of a cell whose path has this hash; node is NULL if it has none. */
uint64_t ino_of_cell(struct nodes *nodes, const struct node *node,
		     uint64_t hash);

/* st_ino of the cell of this qualifier in family, whose own is family_ino. */
uint64_t ino_of_listed(struct nodes *nodes, struct node *family,
		       uint64_t family_ino, struct bytes qualifier);

/* Somebody opens a cell, which then keeps the number that it has. 0 or
 * -ENOMEM. */
int ino_hold(struct nodes *nodes, struct node *cell);

/* The reverse, once for each. Whether that was the last one and another number
 * was told because of it: then what the kernel keeps of numbers ends, see
 * fs_changed_outside. */
bool ino_let_go(struct nodes *nodes, struct node *cell);

/* At the end, before the nodes: frees what is held. Zeroed, nothing is. */
void inos_release(struct nodes *nodes);

#endif
