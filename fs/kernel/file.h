#ifndef FS_KERNEL_FILE_H
#define FS_KERNEL_FILE_H

#include "fs/state/fs.h"

/*
 * Open files: cells, whose handles share a draft, and control files.
 */
void file_on_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		    mode_t mode, struct fuse_file_info *fi);
void file_on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void file_on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		  struct fuse_file_info *fi);
void file_on_write(fuse_req_t req, fuse_ino_t ino, const char *data,
		   size_t size, off_t offset, struct fuse_file_info *fi);
void file_on_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void file_on_fsync(fuse_req_t req, fuse_ino_t ino, int datasync,
		   struct fuse_file_info *fi);
void file_on_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

/* ftruncate. */
int file_truncate(struct fuse_file_info *fi, uint64_t size);

#endif
