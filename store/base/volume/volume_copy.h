#ifndef STORE_BASE_VOLUME_VOLUME_COPY_H
#define STORE_BASE_VOLUME_VOLUME_COPY_H

#include "store/base/volume/volume.h"

/* pread of a file on a failing disk, for repair: zeros stand for what cannot be
 * read, in steps of 4 KiB. */
void volume_read_damaged(struct reader *r, uint64_t offset, uint8_t *data,
			 size_t size);

/* Gives another volume a file of this size under the same name: 1 if it could
 * be linked, 0 if it was copied. */
int volume_bring(struct volume *from, const char *name, uint64_t size,
		 struct volume *to);

#endif
