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

/* XXH3 with 128 bits of what a file holds: whether two are the same, and
 * whether one is still what it was. No defence against who makes such files. */
#define DIGEST_SIZE 16
struct digest {
	uint8_t bytes[DIGEST_SIZE];
};

/* Of the first size bytes of a file, of which -EIO says that it has fewer. */
int volume_digest(struct volume *v, const char *name, uint64_t size,
		  struct digest *out);

/* As volume_bring, but never linked, and read back: *out is what was read and
 * what was written. -EIO if these differ; then to has no such file. */
int volume_copy(struct volume *from, const char *name, uint64_t size,
		struct volume *to, struct digest *out);

#endif
