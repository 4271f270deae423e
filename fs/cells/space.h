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

/* Whether it would be 0 now. */
bool fs_has_space(struct fs *fs, uint64_t more);

/* The same, of what is written again in another place, as by a rename: who has
 * filled a quota may still move things, as on any filesystem. That takes room
 * twice until a compaction, so it ends an eighth beyond the quota. */
int fs_check_moved(struct fs *fs, uint64_t more);

/* To be called each second or so: before a quota is used up, the background
 * looks for what can be given back. */
void fs_tend_space(struct fs *fs);

/* If there is no room for so many bytes more, waits for what history and dead
 * data give back, two seconds at most: before data are taken, or a large value
 * is opened to be written, beside which the room of others cannot be given
 * back. Whoever waits has no lock of struct fs, or others would wait for that.
 */
void fs_await_space(struct fs *fs, uint64_t more);

#endif
