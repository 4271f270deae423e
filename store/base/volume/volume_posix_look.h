#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_LOOK_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_LOOK_H

#include "store/base/volume/volume.h"

/*
 * A directory to be looked at, whatever is in it and whoever has the store that
 * it may be: a volume of which nothing but open, list, root_get and close may
 * be called, and which changes and locks nothing. Names are those of all files,
 * of the volume's own too, and list tells every entry.
 *
 * path is a directory, and then *name is NULL, or a file in one, of the name
 * *name, which is the caller's to free. Links are followed in path, and in no
 * name. -ENOENT.
 */
int volume_posix_look(const char *path, struct volume **out, char **name);

#endif
