#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_READER_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_READER_H

#include "store/base/volume/posix_volume.h"

/*
 * Readers of files of the directory. Each has a descriptor of its own, so that
 * it goes on when the file is renamed or removed; its volume outlives it. Reads
 * that come near each other have the kernel bring what lies between them, see
 * volume_posix_reader.c.
 */

/* A file by any name but a path; -ENOENT. What another put in its place, such
 * as a directory or a link, is refused here rather than by a read. *out is NULL
 * on failure. */
int posix_reader_open(struct posix_volume *v, const char *name,
		      struct reader **out);

/* These are operations of the volume, see volume.h. */
int posix_pread(struct reader *reader, uint64_t offset, void *data,
		size_t size);
void posix_reader_close(struct reader *reader);

#endif
