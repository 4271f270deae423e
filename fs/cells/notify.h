#ifndef FS_CELLS_NOTIFY_H
#define FS_CELLS_NOTIFY_H

#include "fs/state/fs.h"

/* A directory whose list is being read, and cached with its pages: it ends with
 * every change that the kernel does not follow. */
struct watch {
	struct node *node; /* referenced by the owner */
	struct watch *next, *previous;
};

void watch_start(struct fs *fs, struct watch *w, struct node *node);
void watch_end(struct fs *fs, struct watch *w);

/* Any other: names, attributes and lists that the kernel caches end. When it
 * returns, the kernel asks again. Never blocks on a request. */
void fs_changed_outside(struct fs *fs);

/* A change through a path in directory, just now, which then is as new as
 * that, and so are those above. */
void fs_changed_in(struct fs *fs, struct node *directory);

/* cell has this version in the store; see node_committed. */
void fs_committed(struct fs *fs, struct node *cell, uint64_t timestamp_us,
		  uint64_t seq);

#endif
