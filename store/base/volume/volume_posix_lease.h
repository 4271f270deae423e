#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_LEASE_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_LEASE_H

#include "store/base/volume/posix_volume.h"

/*
 * The lease of a POSIX volume: a lock on its file "lock", in which who has it
 * leaves a line about itself.
 *
 * The kernel keeps the lock for as long as its holder lives, and no longer, so
 * there is nobody to be deposed but who is dead, or has released it: that is
 * all of the fence. A holder that is stopped has the store until it is killed.
 * The lock file may be removed or replaced under who has it locked; so he has
 * the marker locked as well, for as long, without which this is no store.
 */

/* These are operations of the volume, see volume.h. */
int posix_lease_take(struct volume *volume, const char *holder,
		     void (*lost)(void *context), void *context);
int posix_lease_check(struct volume *volume);
uint64_t posix_lease_left(struct volume *volume);
int posix_lease_describe(struct volume *volume, const char *holder);
int posix_lease_share(struct volume *volume);
void posix_lease_release(struct volume *volume);

/* Of a volume of a directory whose lease is held: whether this process was the
 * one that had it before, so that nobody has changed anything since. */
bool volume_posix_had_lease(const struct volume *volume);

/* As volume_holder (place.h), of a directory. Changes nothing. */
int volume_posix_holder(const char *directory, struct buf *out, bool *here);

#endif
