#ifndef STORE_BASE_RADOS_POOL_LOCKER_H
#define STORE_BASE_RADOS_POOL_LOCKER_H

#include "store/base/rados/object/pool_volume.h"

/* The lock of the lease itself, on the root. */

/* Bytes of a holder's line; what is longer is cut. */
#define POOL_LINE_MAX 1000

/* Takes it, or renews v's own: 0, -EBUSY, or a raw error. */
int pool_lock(struct pool_volume *v, bool shares, bool renews);
void pool_unlock(struct pool_volume *v);

/* Takes the locks of all who are known to be dead: how many they were. */
int pool_break_dead(struct pool_volume *v);
/* Takes the lock of whoever has it. */
void pool_break_all(struct pool_volume *v);

/* Who has it: 0, with its line and *here as volume_holder; 1 if readers do;
 * -ENOENT; or an error. */
int pool_locker(struct pool_volume *v, struct buf *line, bool *here);

#endif
