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

/* A directory whose list is being read, and cached with its pages: that ends
 * with every change that the kernel does not follow. Embedded in what its owner
 * has of the open directory. */
struct watch {
	struct node *node;             /* referenced by the owner */
	struct watch *next, *previous; /* guarded by nodes.lock */
};

void watch_start(struct fs *fs, struct watch *w, struct node *node);
void watch_end(struct fs *fs, struct watch *w);

/* A change that does not come through the path that shows it: names, attributes
 * and lists that the kernel caches end. When it returns, the kernel asks
 * again. */
void fs_changed_outside(struct fs *fs);

/* A change through a path in directory, just now, which then is as new as
 * that, and so are those above. */
void fs_changed_in(struct fs *fs, struct node *directory);

/* cell, a node that the caller refers to, has this version in the store; see
 * node_committed. If its path does not lead to it, that is a change from
 * outside. */
void fs_committed(struct fs *fs, struct node *cell, uint64_t timestamp_us,
		  uint64_t seq);

#endif
