#ifndef STORE_BASE_RADOS_POOL_LEASE_H
#define STORE_BASE_RADOS_POOL_LEASE_H

#include "store/base/rados/object/pool_volume.h"

/*
 * The lease: a lock on the root that its holder renews. Whoever takes it raises
 * the fence, ends the logs of the former holder, and only then reads.
 *
 * A lock ends by the clock of its OSD. Its holder takes it for held until
 * POOL_LEASE_MS after the last renewal began, by a clock of its own that also
 * goes while the machine sleeps: the OSD began to count later.
 */

/* These are operations of the volume, see volume.h. */
int pool_lease_take(struct volume *volume, const char *holder,
		    void (*lost)(void *context), void *context);
int pool_lease_check(struct volume *volume);
uint64_t pool_lease_left(struct volume *volume);
int pool_lease_describe(struct volume *volume, const char *holder);
int pool_lease_share(struct volume *volume);
void pool_lease_release(struct volume *volume);

/* The fence: how many had the lease to write. */
int pool_lease_number(struct pool_volume *v, uint64_t *out);

/* For tests: whether it is not renewed any more; then it is as if the cluster
 * did not answer. */
void pool_lease_still(struct volume *volume, bool still);
/* For tests: as if its time had passed, of which the holder does not know. */
void pool_lease_expire(struct volume *volume);

#endif
