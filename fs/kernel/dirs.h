#ifndef FS_KERNEL_DIRS_H
#define FS_KERNEL_DIRS_H

#include "fs/state/fs.h"

/*
 * Listings between their requests, where the kernel opens directories by itself
 * (see on_opendir) and its requests have no handle. A request says by its
 * offset which listing it goes on with; one for the start begins another.
 * Nobody tells when a reader is gone, so there are at most so many: those of
 * which all was given apart from the others, as who removes a tree reads the
 * small lists in a large one before it comes back to that. The one unused for
 * longest ends if all of it was given, else it is thin (dir_thin): whoever
 * comes back goes on where he was. One that is unused for some seconds lets its
 * snapshot go. Who comes back to one that has ended goes on in a new one, by
 * counting entries.
 *
 * From any thread; see struct dirs in fs.h.
 */
#define DIRS_BEGUN_MAX 128
#define DIRS_GIVEN_MAX 64
#define DIRS_THIN_MAX 4096
#define DIRS_IDLE_US UINT64_C(5000000)

/* Answers a readdir of node without a handle, as dir_reply does. */
void dirs_reply(struct fs *fs, struct node *node, fuse_req_t req,
		uint64_t offset, size_t size, bool plus);

/* Suspends those that were not used lately, as of now_us. Call it now and then.
 */
void dirs_sweep(struct fs *fs, uint64_t now_us);

/* Suspends all that no request is under way in: for room, which what their
 * snapshots see takes. Waits for none of them. */
void dirs_let_go(struct fs *fs);

/* Ends all. No request may be under way. */
void dirs_release(struct fs *fs);

#endif
