#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_SPARE_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_SPARE_H

#include "store/base/volume/posix_volume.h"

/*
 * Pieces of held room: files whose blocks are allocated and whose content means
 * nothing. A file in the place of a piece is the piece renamed and overwritten,
 * so that there is no moment at which its blocks are free for others. All calls
 * take the lock of the pieces.
 */

/* Before any other call, and after the last. */
void posix_spares_init(struct posix_volume *v);
void posix_spares_end(struct posix_volume *v);

/* See spare_hold. */
int posix_spare_hold(struct volume *volume, const uint64_t *sizes, size_t count,
		     bool keep);

/* See spare_wipe. */
int posix_spare_wipe(struct volume *volume);

/* Whoever takes the lease tells of the files of a former life that it finds:
 * true if name is a piece or became one, false if it is to be removed. */
bool posix_spare_found(struct posix_volume *v, const char *name);

/* Renames a piece, the smallest of at least size bytes, to name, which there is
 * not yet; with largest the largest if none is so large. Its descriptor, open
 * for writing at the start, and the bytes of its blocks; -ENOSPC if there is
 * none. path is for messages. */
int posix_spare_take(struct posix_volume *v, const char *name, uint64_t size,
		     bool largest, const char *path, uint64_t *room);

/* Makes a piece of a file that is to go, if one is missing, nobody else has it
 * open and it has no other name: true, and the name is free. Else nothing has
 * happened, or the file is gone. */
bool posix_spare_give(struct posix_volume *v, const char *name);

/* Whether fd is a file with one name; else overwriting it may harm others. */
bool posix_has_one_name(int fd);

/* Allocates the blocks of a file up to size: by fallocate, which keeps its
 * length, or where the file system has none by zeros behind its end. 0, or an
 * error, and then its length is as before. */
int posix_allocate(int fd, uint64_t size, const char *path);

#endif
