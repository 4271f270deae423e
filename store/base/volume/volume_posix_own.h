#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_OWN_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_OWN_H

#include "store/base/volume/posix_volume.h"
#include "store/base/volume/volume.h"

/* Makes the directory if it is missing; checks or writes the marker. */
int posix_make_directory(struct posix_volume *v);
int posix_check_marker(struct posix_volume *v, bool create);
int posix_root_get(struct volume *volume, uint64_t *version, struct buf *out);
int posix_root_swap(struct volume *volume, uint64_t expected,
		    struct bytes content);
int posix_lease_take(struct volume *volume, const char *holder);
int posix_lease_describe(struct volume *volume, const char *holder);
void posix_lease_release(struct volume *volume);

/* 0 if there is nothing of this name yet, or -EEXIST. */
int volume_posix_free_name(const char *path);

/* Renames a directory durably, to a name that is free. */
int volume_posix_rename(const char *from, const char *to);

/* Removes the files of a directory, which the caller has made, as far as that
 * can be done. err_detail() stays as it is. */
void volume_posix_clear(const char *directory);

/* Removes the directory, too. */
void volume_posix_discard(const char *directory);

/* The line that the present holder of the lease wrote, without taking it;
 * -ENOENT when nobody holds it. */
int volume_posix_holder(const char *directory, struct buf *out);

#endif
