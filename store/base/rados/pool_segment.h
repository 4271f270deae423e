#ifndef STORE_BASE_RADOS_POOL_SEGMENT_H
#define STORE_BASE_RADOS_POOL_SEGMENT_H

#include "store/base/rados/object/pool_volume.h"

/* Segments: these are operations of the volume, see volume.h. */
int pool_segment_create(struct volume *volume, const char *name,
			struct segment_writer **out);
int pool_segment_from_spare(struct volume *volume, const char *name,
			    uint64_t size, struct segment_writer **out);
int pool_segment_append(struct segment_writer *writer, struct bytes data);
int pool_segment_finish(struct segment_writer *writer);
void pool_segment_abandon(struct segment_writer *writer);

#endif
