#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_H

#include <sys/stat.h>

#include "store/base/volume/volume.h"

/*
 * A volume that is a directory of the local file system. With create, makes it
 * (mode 0700) if it is missing; a directory that holds other files but no store
 * is refused (-ERR_not_a_store), and without create so is an empty one.
 * -ERR_format_newer. Takes no lease. *out is NULL on failure.
 */
int volume_posix_open(const char *directory, bool create, struct volume **out);

/* For repair: a directory that should hold a store, whether or not it says so
 * itself. It is refused only if it says that it is of a newer format; 1 if it
 * does not say so, with the reason in err_detail(). */
int volume_posix_open_damaged(const char *directory, struct volume **out);

/* Which directory an open volume of this kind is, wherever it was moved. 0 or
 * an error. */
int volume_posix_stat(struct volume *volume, struct stat *st);

/* By what a file of a volume, which never changes, is known again without being
 * read. Zeroed, it is known by nothing. */
struct file_mark {
	uint64_t device, inode;
	uint64_t written_ns; /* since 1970 */
};

/* False, with err_detail() as it was, if volume is of another kind, such as one
 * in memory, or the file is not there. */
bool volume_posix_mark(struct volume *volume, const char *name,
		       struct file_mark *out);

#endif
