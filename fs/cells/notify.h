#ifndef FS_CELLS_NOTIFY_H
#define FS_CELLS_NOTIFY_H

#include "fs/state/fs.h"

/*
 * What the kernel caches, and is told to drop when the data under it change.
 * Whoever changes data calls one of these afterwards, or fs_changed for a
 * change that the kernel follows by itself. From any thread, also while it
 * serves a request: none of these waits for a request. Kernels before 6.16,
 * which cannot be told of all, keep what they are told for a second only, see
 * attr.h.
 */

/* The kernel is about to take what it was given of directory's list for whole,
 * read since fs->outside was outside. Whether it may: if there was no change
 * from outside since, and then the next one drops it. */
bool list_keep(struct fs *fs, struct node *directory, uint64_t outside);

/* The kernel drops what it keeps of directory's list, and its attributes. */
void list_drop(struct fs *fs, struct node *directory);

/* A change that does not come through the path that shows it: names, attributes
 * and lists that the kernel caches end. When it returns, the kernel asks
 * again. */
void fs_changed_outside(struct fs *fs);

/* The same of a table's owner or mode: when it returns, the kernel lets nobody
 * do what these do not give, by whatever it remembers. */
void fs_access_changed(struct fs *fs);

/* A change through a path in directory, just now, which then is as new as
 * that, and so are those above. */
void fs_changed_in(struct fs *fs, struct node *directory);

/* cell, a node that the caller refers to, has this version in the store; see
 * node_committed. If its path does not lead to it, that is a change from
 * outside. */
void fs_committed(struct fs *fs, struct node *cell, uint64_t timestamp_us,
		  uint64_t seq);

#endif
