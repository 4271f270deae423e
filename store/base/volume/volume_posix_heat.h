#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_HEAT_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_HEAT_H

#include "store/base/volume/posix_volume.h"

/*
 * The history of heat of a POSIX volume: the file HEAT, 0600, which others may
 * cut and remove at any time. What is there by this name and is no regular file
 * is neither read nor waited for, nor written to.
 */

/* As the calls of volume_ops. */
int posix_heat_read(struct volume *volume, struct buf *out);
int posix_heat_append(struct volume *volume, uint64_t size, struct bytes data);
int posix_heat_replace(struct volume *volume, struct bytes content);

#endif
