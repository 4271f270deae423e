#ifndef FS_CELLS_SPACE_H
#define FS_CELLS_SPACE_H

#include "fs/state/fs.h"

/* What statfs tells; with a quota, as if that were the disk's size. */
int fs_space(struct fs *fs, struct statvfs *st);

/* -ENOSPC if a quota is used up. */
int fs_check_space(struct fs *fs);

#endif
