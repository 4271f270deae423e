#ifndef FS_OPEN_COMMIT_H
#define FS_OPEN_COMMIT_H

#include "fs/open/draft.h"

/* Commits what is uncommitted; with sync, durably, that and all before. */
int draft_flush(struct fs *fs, struct draft *draft, bool sync);

/* What utimensat does to a cell: see commit.c. */
int draft_stamp(struct fs *fs, struct draft *draft, uint64_t timestamp_us);

/* Notes in the nodes that cell, at path, was committed with this timestamp.
 * Needs the lock of its draft. */
void note_commit(struct fs *fs, struct node *cell, const struct path *path,
		 uint64_t timestamp_us);

/* The following need draft->lock. */
int draft_commit_locked(struct fs *fs, struct draft *draft, bool sync);

/* The mtime to show. */
uint64_t draft_time(const struct draft *draft);

#endif
