#ifndef FS_STATE_FS_H
#define FS_STATE_FS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <fuse_lowlevel.h>

#include "fs/state/errors.h"
#include "fs/state/metrics.h"
#include "fs/state/node.h"
#include "fs/state/options.h"
#include "store/store.h"

/*
 * One mounted filesystem. Requests run on several threads.
 *
 * Locks, in the order they may be taken: tree, a draft's, the store's own,
 * nodes.lock. Whoever reads a node's path in order to write under it holds
 * tree for reading until the write is done; renames hold it for writing.
 */
struct device;
struct imports;
struct seen;

/* Snapshots that are shown, see at.h. */
struct pins {
	pthread_mutex_t lock; /* before nodes.lock and the store's */
	struct pin *first;
};

struct fs {
	const struct mount_options *options;
	struct store *store;
	struct fuse_session *session;
	struct gc_policy *gc; /* of families that mkdir makes */
	struct nodes nodes;
	struct errors errors;
	struct metrics metrics;
	struct device *device;
	struct pins pins;
	struct draft *drafts;  /* all, guarded by nodes.lock */
	struct watch *watches; /* of open directories, guarded by nodes.lock */
	struct imports *imports;
	struct seen *seen;
	pthread_rwlock_t tree;
	/* Grows with every change: what was read before may be old. */
	_Atomic uint64_t changes;
	/* Grows with changes that the kernel does not know of by itself. */
	_Atomic uint64_t outside;
	_Atomic uint64_t requests;
	_Atomic bool has_epochs; /* kernel >= 6.16 */
	uint64_t start_us;
	uid_t uid;
	gid_t gid;
	int ready_fd; /* told when served; -1 in the foreground */
};

uint64_t fs_now(void);
/* A change through a path that the kernel follows by itself. */
void fs_changed(struct fs *fs);

/* Answers a request with err and, if somebody told why, keeps a line about
 * node (or name in it) in .tabletfs/errors. */
void fs_reply_error(struct fs *fs, fuse_req_t req, struct node *node,
		    const char *name, int err);
/* Only the line. */
void fs_log_error(struct fs *fs, struct node *node, const char *name, int err);

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

#endif
