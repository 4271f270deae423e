#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_FILE_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_FILE_H

#include "store/base/volume/posix_volume.h"

/* "directory/name", to be freed, or NULL. */
char *posix_path(const struct posix_volume *v, const char *name);
int posix_write_all(int fd, struct bytes data, const char *path);
int posix_sync_file(int fd, const char *path);
int posix_sync_directory(const struct posix_volume *v);

/* Renames name.tmp to name, durably. Without replace, -EEXIST if there is one,
 * and after any failure there is no file of that name. */
int posix_publish(struct posix_volume *v, const char *name, bool replace);
void posix_remove_tmp(const struct posix_volume *v, const char *name);

/* Calls each with every entry of the directory; see list. */
int posix_each_entry(struct posix_volume *v,
		     int (*each)(void *context, const char *name),
		     void *context);
bool posix_is_tmp(const char *name);

#endif
