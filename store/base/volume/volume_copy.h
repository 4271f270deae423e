#ifndef STORE_BASE_VOLUME_VOLUME_COPY_H
#define STORE_BASE_VOLUME_VOLUME_COPY_H

#include "store/base/volume/volume.h"

/*
 * What can be made of the operations of any volume; on no one's behalf, so
 * there is nothing to lock.
 */

/* pread of a file on a failing disk, for repair: zeros stand for what cannot be
 * read, in steps of 4 KiB, and for what is past the end. err_detail() then
 * tells of the last of them. */
void volume_read_damaged(struct reader *r, uint64_t offset, uint8_t *data,
			 size_t size);

/* Gives another volume a file of size bytes under the same name, durably if it
 * is durable here: 1 if it could be linked, 0 if it was copied. -EEXIST. Of a
 * log a copy is a segment, which grows no more. */
int volume_bring(struct volume *from, const char *name, uint64_t size,
		 struct volume *to);

#endif
