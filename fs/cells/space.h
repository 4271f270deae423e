#ifndef FS_CELLS_SPACE_H
#define FS_CELLS_SPACE_H

#include <sys/statvfs.h>

#include "fs/state/fs.h"

/*
 * How much room there is: what statfs(2) tells, and whether a quota (-o quota=)
 * lets a write begin. The disk's own limit is not asked for here but in the
 * store, which refuses a commit for which there is no room. From any thread.
 */

/* What statfs tells; with a quota, as if that were the disk's size. 0 or an
 * error of the volume. */
int fs_space(struct fs *fs, struct statvfs *st);

/* -ENOSPC if a quota is used up, by the store and by what is written to open
 * cells, or would be with so many bytes more. To be asked before data are
 * taken: by writes to files and imports, not by what deletes. */
int fs_check_space(struct fs *fs, uint64_t more);

/* The same, of what is written again in another place, as by a rename: who has
 * filled a quota may still move things, as on any filesystem. That takes room
 * twice until a compaction, so it ends an eighth beyond the quota. */
int fs_check_moved(struct fs *fs, uint64_t more);

#endif
