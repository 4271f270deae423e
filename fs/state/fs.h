#ifndef FS_STATE_FS_H
#define FS_STATE_FS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <fuse_lowlevel.h>

#include "fs/state/errors.h"
#include "fs/state/makers.h"
#include "fs/state/metrics.h"
#include "fs/state/node.h"
#include "fs/state/options.h"
#include "store/base/held.h"
#include "store/store.h"

/*
 * One mounted filesystem: what every request handler is given. Requests run on
 * several threads; fs_init and fs_release (mount.h) run on one, before the
 * first request and after the last.
 *
 * Locks, in the order in which they may be taken; none is needed twice by one
 * thread:
 *
 *   1. of an open control file or an open directory (ctl_file, dir)
 *   2. a turn (turn.h), and then fs.tree (place.h): shared by who goes to the
 *      store by a node's path, so that the path stays true until that is done;
 *      alone by renames
 *   3. a draft's (draft.h); two at once only in a rename, by address
 *   4. pins.lock (pin.h), exports.lock (sized.h), the lock of struct seen
 *      (seen.h, only ever tried)
 *   5. the store's own, which every call of store.h may take
 *   6. fs.dropping
 *   7. nodes.lock, under which nothing else is taken and no store is called
 *
 * Those of struct errors, struct makers, struct handles, struct dirs and
 * struct loop are taken with any other held, and none is taken under them.
 */
struct device;
struct draft;
struct handle;
struct imports;
struct pin;
struct seen;
struct sized;
struct sized_cursor;
struct begun;

/* Snapshots that .at/now and .as-of show, see pin.h. */
struct pins {
	pthread_mutex_t lock; /* guards what follows, the list and all in it */
	struct pin *first;
	size_t moments; /* how many of these are of moments */
};

/* Exports with a size, see sized.h. */
struct exports {
	pthread_mutex_t lock; /* guards what follows and the list */
	pthread_cond_t idle;  /* a cursor is */
	struct sized *first;
	size_t count;
	struct sized_cursor *cursors; /* owned */
	uint64_t uses;                /* of cursors, so far */
};

/* Handles of open files, see file.h. */
struct handles {
	pthread_mutex_t lock; /* guards the list */
	struct handle *first;
};

/* Listings that are begun, see dirs.h: those to go on with, those that were
 * read to their end, and thin ones; of each kind the one used last comes first.
 */
struct dirs {
	pthread_mutex_t lock; /* guards what follows and all in it */
	struct begun *first[3], *last[3];
	size_t count[3];
};

/* Holds names still: taken by what place.h has for it. */
struct CAPABILITY("tree") tree_lock {
	pthread_rwlock_t lock;
};

/* Turns of who may hold names still for long, see turn.h. */
struct turns {
	sem_t left;
};

struct fs {
	/* Set before the first request and not changed; the store and the
	 * session are not owned. */
	const struct mount_options *options;
	struct store *store;
	struct fuse_session *session; /* NULL in tests without a mount */
	struct gc_policy *gc;         /* of families that mkdir makes; owned */
	struct device *device;        /* how requests are waited for */
	uint64_t start_us;            /* when the filesystem began */
	uint64_t start_steady_us;     /* the same by fs_steady */
	struct volume_mark mark;      /* of the store; zeros in tests */
	uid_t uid;                    /* whose all is that has no owner set */
	gid_t gid;

	/* Each with a lock of its own, or none. */
	struct nodes nodes;
	struct errors errors;
	struct requests metrics;
	struct metrics_writer *metrics_writer; /* the tick's; NULL: none */
	struct makers makers; /* by inode number, see access.h */
	struct pins pins;
	struct exports exports;
	struct imports *imports; /* what .import/last tells; owned */
	struct seen *seen;       /* the row that was looked up last; owned */

	struct draft *drafts;   /* all, newest first; guarded by nodes.lock */
	struct node *listed;    /* see notify.h; guarded by nodes.lock */
	struct handles handles; /* of open files, see file.h */
	struct dirs dirs;       /* listings between requests, see dirs.h */
	struct tree_lock tree;  /* names: see the order of locks */
	struct turns turns;
	/* Held while lists are dropped: one change's after another's. */
	pthread_mutex_t dropping;

	/* Grows with every change: what was read before may be old. */
	_Atomic uint64_t changes;
	/* Grows with changes that the kernel does not know of by itself. */
	_Atomic uint64_t outside;
	/* Bytes of open cells that are not committed yet, for the quota. */
	_Atomic uint64_t uncommitted;
	/* Listings begun: the number of the last, see dir.h. */
	_Atomic uint32_t listings;
	/* Requests begun, for .tabletfs/stats. */
	_Atomic uint64_t requests;
	/* The kernel takes notifications of epochs (6.16): what it caches can
	 * be ended. Until it says that it does not, it is believed to. */
	_Atomic bool has_epochs;
	/* Where to tell that requests are served; -1 once told, or in the
	 * foreground. Of the thread that answers INIT. */
	int ready_fd;
};

/* Microseconds since 1970, as store_now: it is compared with timestamps of
 * cells, and becomes one. */
uint64_t fs_now(const struct fs *fs);
/* Waits until us is no time to come, if that is no more than some milliseconds:
 * what a call wrote in a table of milliseconds may be newer than the clock, as
 * it had to be newer than what was there, and then what others write next by
 * the clock would not be the newest. Without locks. */
void fs_reach(const struct fs *fs, uint64_t us);
/* Microseconds by the clock that nobody sets, for how long ago a thing was. */
uint64_t fs_steady(void);

/* What a change of names in a control directory is answered with: -EROFS in the
 * past, with its reason, else -EPERM. */
int fs_refuse(const struct node *directory);

/* Notes a change through a path, which the kernel follows by itself. For others
 * see fs_changed_outside (notify.h). */
void fs_changed(struct fs *fs);

/* Writes a line about node, or name in it if that is not NULL, to
 * .tabletfs/errors, with the thread's err_detail, for who mounted it to see.
 * node may be NULL. Without memory for it there is none. */
void fs_log_error(struct fs *fs, struct node *node, const char *name, int err);
/* The same, of what uid asked for. */
void fs_log_error_of(struct fs *fs, struct node *node, const char *name,
		     int err, uid_t uid);

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

#endif
