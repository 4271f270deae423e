#ifndef STORE_BASE_RADOS_POOL_OWN_H
#define STORE_BASE_RADOS_POOL_OWN_H

#include "store/base/rados/object/pool_volume.h"

/* What a volume has that the engine gives no name: the root, notes, heat; and
 * what is told of its pool. */

/* Makes what every volume has, if it is missing: 0 or an error. */
int pool_make(struct pool_volume *v);

/* 0 if there is a store of a known format: else -ENOENT, -ERR_not_a_store or
 * -ERR_format_newer. */
int pool_check_format(struct pool_volume *v);

/* Keeps former holders from notes and heat; for who takes the lease. */
int pool_stamp_own(struct pool_volume *v);

/* These are operations of the volume, see volume.h. */
int pool_root_get(struct volume *volume, uint64_t *version, struct buf *out);
int pool_root_swap(struct volume *volume, uint64_t expected,
		   struct bytes content);
int pool_note(struct volume *volume, struct bytes lines, uint64_t size_max);
int pool_heat_read(struct volume *volume, struct buf *out);
int pool_heat_append(struct volume *volume, uint64_t size, struct bytes data);
int pool_heat_replace(struct volume *volume, struct bytes content);
int pool_scratch(struct volume *volume);

#endif
