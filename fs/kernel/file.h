#ifndef FS_KERNEL_FILE_H
#define FS_KERNEL_FILE_H

#include "fs/state/fs.h"

/*
 * Handlers of requests about open files: cells, whose handles share a draft,
 * and control files. fi->fh is the handle, made by create or open and ended by
 * release. As in ops.c each decodes, calls, and replies exactly once, from any
 * thread.
 */

/* Makes a file and opens it, or opens the one that another request made
 * meanwhile, unless O_EXCL is among the flags. */
void file_on_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		    mode_t mode, struct fuse_file_info *fi);
void file_on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void file_on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		  struct fuse_file_info *fi);
void file_on_write(fuse_req_t req, fuse_ino_t ino, const char *data,
		   size_t size, off_t offset, struct fuse_file_info *fi);

/* At each close(2): commits what the handle has written. */
void file_on_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

/* Commits, and returns when that is durable. */
void file_on_fsync(fuse_req_t req, fuse_ino_t ino, int datasync,
		   struct fuse_file_info *fi);

/* Ends the handle, after the last close. */
void file_on_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

/* ftruncate(2) of the open file fi: 0 or an error. Whoever calls it replies. */
int file_truncate(struct fs *fs, struct fuse_file_info *fi, uint64_t size);

/* At the end of the filesystem: frees handles that were never released. The
 * kernel sends release some time after close(2), so a process that is told to
 * end may not have read it. Drafts go with drafts_release; of a control file,
 * whose writer may not be done, nothing more is taken. */
void files_release(struct fs *fs);

#endif
