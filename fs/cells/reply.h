#ifndef FS_CELLS_REPLY_H
#define FS_CELLS_REPLY_H

#include "fs/state/fs.h"

/*
 * Answers to the kernel. What tells of something that was read or not found
 * goes by these, for here is where it is asked whether the store may be told of
 * (store_answerable). What was done is told by libfuse's own calls: a commit
 * that succeeded is so whoever has the store by now, and Linux does again what
 * ends with ESTALE.
 */

/* The kernel rounds a time up to its next tick, of which there are at least 100
 * a second, and keeps what it has until that has passed. */
#define REPLY_TICKS_MS 20

/* 0, or -ESTALE if what was read by now may not be told. May wait, for which it
 * hands the lead over first; so without locks. */
int fs_answerable(struct fs *fs);

/* At the beginning of a request: a mount that follows looks for what is new, if
 * what it shows is too old. Without that, it is answered that it is. */
void fs_catch_up(struct fs *fs);

/* After -ESTALE: whether it is worth another try, as a mount that follows has
 * looked for what there is in place of files that were merged away. Waits for
 * the volume, and hands the lead over first. */
bool fs_look_again(struct fs *fs);

/* Answers req with err, which is 0, of what was done, or negative. An error
 * that is more than an answer (it has a detail, or means trouble) also becomes
 * a line in .tabletfs/errors, about node, or name in it if that is not NULL.
 * node may be NULL. req is gone afterwards. */
void fs_reply_error(struct fs *fs, fuse_req_t req, struct node *node,
		    const char *name, int err);

/*
 * The kernel answers, too, with what it was told, as long as it may. Where
 * another can get the store that is no longer than nobody can: timeouts of
 * entries and attributes end then, after which it asks here. What it keeps of
 * lists and files goes by attributes that it has.
 *
 * timeout, in seconds, or those of e, of which the former is told by a call of
 * libfuse at once.
 */
double fs_timeout(struct fs *fs, double timeout);
void fs_cut_timeouts(struct fs *fs, struct fuse_entry_param *e);

/* As the calls of libfuse, with timeouts cut; but if it may not be told, the
 * answer is ESTALE, and what they return is negative, as if nobody had taken
 * it. */
int fs_reply_entry(fuse_req_t req, struct fuse_entry_param *e);
int fs_reply_attr(fuse_req_t req, const struct stat *st, double timeout);
int fs_reply_open(fuse_req_t req, const struct fuse_file_info *fi);
int fs_reply_buf(fuse_req_t req, const char *data, size_t size);
int fs_reply_readlink(fuse_req_t req, const char *target);
int fs_reply_xattr(fuse_req_t req, size_t size);
int fs_reply_statfs(fuse_req_t req, const struct statvfs *st);

#endif
