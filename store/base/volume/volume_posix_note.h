#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_NOTE_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_NOTE_H

#include "store/base/volume/posix_volume.h"

/*
 * Notes of a POSIX volume: the files LOG and LOG.1, 0600, which others may
 * read, cut and remove at any time.
 */

/* As volume_ops.note. What is there as LOG and is no regular file is not
 * written to, nor waited for: -EIO, or -ELOOP of a link. */
int posix_note(struct volume *volume, struct bytes lines, uint64_t size_max);

/* Ends what posix_note began. */
void posix_notes_end(struct posix_volume *v);

#endif
