#ifndef FS_OPEN_COMMIT_H
#define FS_OPEN_COMMIT_H

#include "fs/open/draft.h"

/*
 * How a draft becomes a version of its cell, and which timestamp that gets.
 * Calls may come from any thread. What is committed has survived the death of
 * this process; with sync, or -o sync, also that of the machine.
 *
 * The first two take fs->tree and the draft's lock; an error is the store's,
 * after which the draft is as uncommitted as before.
 */

/* Commits what is uncommitted, if anything is; with sync, durably, that and all
 * that was committed before. What was unlinked is never committed, and no
 * error. */
int draft_flush(struct fs *fs, struct draft *draft, bool sync)
	EXCLUDES(fs->tree);

/* What utimensat does to a cell: what is uncommitted will be committed with
 * that timestamp, else the newest version moves there, or as near to it as the
 * next older version lets it. -EPERM in an aggregate family; -EINVAL if an age
 * rule would hide it at once; -ENOENT without a version. */
int draft_stamp(struct fs *fs, struct draft *draft, uint64_t timestamp_us)
	EXCLUDES(fs->tree);

/* draft_flush for who has draft->lock and fs->tree. */
int draft_commit_locked(struct fs *fs, struct draft *draft, bool sync)
	NEEDS_SHARED(fs->tree);

/* The mtime to show: of the newest version, or what a commit would give it.
 * Needs draft->lock. */
uint64_t draft_time(const struct draft *draft);

/* Notes in the nodes that cell, at path, was committed with this timestamp.
 * Needs the lock of its draft, if it has one. */
void note_commit(struct fs *fs, struct node *cell, const struct path *path,
		 uint64_t timestamp_us) NEEDS_SHARED(fs->tree);

/* Counts for the quota what the draft has, unless it was committed. To be
 * called with its lock held when one of both has changed. */
void draft_count(struct fs *fs, struct draft *draft);

#endif
