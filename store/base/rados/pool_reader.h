#ifndef STORE_BASE_RADOS_POOL_READER_H
#define STORE_BASE_RADOS_POOL_READER_H

#include "store/base/rados/pool_volume.h"

/*
 * Readers. Who reads on where it has read before gets a window of what follows,
 * of which the volume keeps a few: a read takes as long for a block as for a
 * thousand.
 */

/* These are operations of the volume, see volume.h. */
int pool_open(struct volume *volume, const char *name, struct reader **out);
int pool_pread(struct reader *reader, uint64_t offset, void *data, size_t size);
void pool_reader_close(struct reader *reader);

/* Frees what was kept; there are no readers any more. */
void pool_windows_end(struct pool_volume *v);

#endif
