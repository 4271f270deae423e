#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_LEASE_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_LEASE_H

#include "store/base/volume/posix_volume.h"

/*
 * The lease of a POSIX volume: a lock on its file "lock", in which who has it
 * leaves a line about itself.
 */

/* These are operations of the volume, see volume.h. */
int posix_lease_take(struct volume *volume, const char *holder);
int posix_lease_describe(struct volume *volume, const char *holder);
int posix_lease_share(struct volume *volume);
void posix_lease_release(struct volume *volume);

/* Replaces out by who has the lease, without taking it: 0 with the line that
 * its holder wrote; 1 if it is shared, by readers, who write none, with words
 * for people; -ENOENT when nobody has it. Changes nothing. */
int volume_posix_holder(const char *directory, struct buf *out);

#endif
