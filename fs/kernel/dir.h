#ifndef FS_KERNEL_DIR_H
#define FS_KERNEL_DIR_H

#include "fs/state/fs.h"

/*
 * An open directory. Nothing is read before the first readdir; that takes a
 * snapshot, and reading from the start again takes a new one. Entries stream
 * from a scan, in key order, merged with what is only local.
 *
 * The cookie of an entry is its listing's number and its ordinal. Where the
 * kernel may come back to: anywhere in the last reply, whose entries are kept
 * (the window), and anywhere before, by what marks.h remembers. So memory does
 * not grow with the directory.
 *
 * Requests may come from any thread; a lock of its own makes them one at a
 * time. The store's locks and nodes.lock are taken under it.
 */
struct dir;

/* The number of the listing that an offset belongs to, and one for a new
 * listing, which none has had in the last eight million. */
uint32_t dir_number_of(uint64_t offset);
uint32_t dir_next_number(struct fs *fs);

/* Opens node, a directory of any kind, of which dir holds a reference until
 * dir_close; its first listing has this number. 0 or -ENOMEM. */
int dir_open(struct fs *fs, struct node *node, uint32_t number,
	     struct dir **out);
void dir_close(struct fs *fs, struct dir *d);

/* Lets its snapshot go, until the next request: then it goes on in a new one.
 */
void dir_suspend(struct fs *fs, struct dir *d);

/* The same, unless a request is under way, which is not waited for: whether it
 * did. */
bool dir_try_suspend(struct fs *fs, struct dir *d);

/* The same, and forgets most of what it has given: who goes on where it stopped
 * finds the next entry, and who goes back is given some again. Then it has some
 * hundreds of bytes. */
void dir_thin(struct fs *fs, struct dir *d);

/* Answers a readdir request, or with plus a readdirplus request, whose entries
 * are nodes that the kernel then knows. offset is a cookie, or 0 for the start;
 * size is what the reply may take, in bytes. Whether it was the end, or nothing
 * but the end can follow. Where the kernel keeps a list, the end is when it
 * takes it for whole, see notify.h. */
bool dir_reply(struct fs *fs, struct dir *d, fuse_req_t req, uint64_t offset,
	       size_t size, bool plus);

#endif
