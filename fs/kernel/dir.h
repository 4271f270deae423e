#ifndef FS_KERNEL_DIR_H
#define FS_KERNEL_DIR_H

#include "fs/state/fs.h"

/*
 * An open directory. Nothing is read before the first readdir; that takes a
 * snapshot, and reading from the start again takes a new one. Entries stream
 * from a scan, in key order, merged with what is only local.
 *
 * The cookie of an entry is its ordinal. Where the kernel may come back to:
 * anywhere in the last reply, whose entries are kept (the window), and anywhere
 * before, by the nearest of at most MARKS_MAX saved row keys and stepping on
 * from there. So memory does not grow with the directory.
 *
 * Requests may come from any thread; a lock of its own makes them one at a
 * time. The store's locks and nodes.lock are taken under it.
 */
struct dir;

/* Opens node, a directory of any kind, of which dir holds a reference until
 * dir_close. Changes are watched from here on, see notify.h. 0 or -ENOMEM. */
int dir_open(struct fs *fs, struct node *node, struct dir **out);
void dir_close(struct fs *fs, struct dir *d);

/* Answers a readdir request, or with plus a readdirplus request, whose entries
 * are nodes that the kernel then knows. offset is a cookie, or 0 for the start;
 * size is what the reply may take, in bytes. */
void dir_reply(struct fs *fs, struct dir *d, fuse_req_t req, uint64_t offset,
	       size_t size, bool plus);

#endif
