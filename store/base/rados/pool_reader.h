#ifndef STORE_BASE_RADOS_POOL_READER_H
#define STORE_BASE_RADOS_POOL_READER_H

#include "store/base/rados/object/pool_volume.h"

/* Readers. Who reads on where it has read before gets windows of what follows.
 *
 * These are operations of the volume, see volume.h. */
int pool_open(struct volume *volume, const char *name, struct reader **out);
int pool_pread(struct reader *reader, uint64_t offset, void *data, size_t size);
void pool_reader_close(struct reader *reader);

#endif
