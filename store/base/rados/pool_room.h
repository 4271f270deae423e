#ifndef STORE_BASE_RADOS_POOL_ROOM_H
#define STORE_BASE_RADOS_POOL_ROOM_H

#include "store/base/rados/object/pool_volume.h"

/*
 * Room in the pool: what is left, and what is held. No blocks of a pool can be
 * held; but a pool is full some time before its disks are, and what is written
 * by force is taken even then. So a piece is permission for its bytes to be
 * written by force: pieces are given while the pool is not full, and by files
 * that are removed, so that what is forced is bounded.
 */

/* These are operations of the volume, see volume.h. */
int pool_spare_hold(struct volume *volume, const uint64_t *sizes, size_t count,
		    bool keep);
int pool_spare_wipe(struct volume *volume);

/*
 * What is left on the disks of the pool, or of its quota if that is less. What
 * the monitor knows of that is some seconds old, so what was written here since
 * is taken off; else the pool would be full before who writes knows, and with
 * it what is left for compactions. Where the monitor does not know, as without
 * a manager, there is said to be much. As volume_ops.space.
 */
int pool_space(struct volume *volume, struct volume_space *out);
/* So many bytes are being written. */
void pool_space_used(struct pool_volume *v, uint64_t size);

/* Takes the smallest piece of at least size bytes, or with largest the largest
 * if none is so large, and tells its bytes; -ENOSPC. name is for messages. */
int pool_spare_take(struct pool_volume *v, const char *name, uint64_t size,
		    bool largest, uint64_t *room);

/* A file is gone, whatever of its room it had used: if a piece is missing,
 * there is one more. */
void pool_spare_give(struct pool_volume *v);

/* Whether the pool takes new objects: 0 or -ENOSPC. Asked only if it has
 * refused something since. */
int pool_check_full(struct pool_volume *v);

#endif
