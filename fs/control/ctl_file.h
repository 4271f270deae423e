#ifndef FS_CONTROL_CTL_FILE_H
#define FS_CONTROL_CTL_FILE_H

#include "fs/control/ctl.h"

/* The read of files whose text is in out. */
int ctl_read_text(struct fs *fs, struct ctl_file *f, uint64_t offset,
		  size_t size, struct buf *out);
size_t ctl_take_lines(struct buf *partial, struct bytes data,
		      const struct ctl_lines *lines, int *err);

#endif
