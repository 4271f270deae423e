#ifndef FS_NOTIFY_H
#define FS_NOTIFY_H

#include "fs/fs.h"

/* A directory whose list is being read, and cached with its pages: it ends with
 * every change that the kernel does not follow. */
struct watch {
	struct node *node; /* referenced by the owner */
	struct watch *next, *previous;
};

void watch_start(struct fs *fs, struct watch *w, struct node *node);
void watch_end(struct fs *fs, struct watch *w);

#endif
