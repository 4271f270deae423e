#ifndef STORE_BASE_VOLUME_POSIX_VOLUME_H
#define STORE_BASE_VOLUME_POSIX_VOLUME_H

#include "store/base/volume/volume.h"

/*
 * What the two halves of the POSIX volume share: volume_posix.c has segments
 * and logs, volume_posix_own.c what is not named by the engine.
 *
 *   tabletfs    says that this is a store, and of which format
 *   root        "tfsroot1" | u64 version | content | crc32c of all before
 *   lock        a write lock on it is the lease; one line: who holds it
 *   <name>      a finished segment, or a log
 *   <name>.tmp  a file on its way; swept by whoever takes the lease
 *
 * A new file is written under its temporary name, synced, renamed, and then the
 * directory is synced. Logs are made under their own name, and the directory is
 * synced with their first sync.
 */
#define POSIX_MARKER "tabletfs"
#define POSIX_ROOT "root"
#define POSIX_LOCK "lock"
#define POSIX_TMP ".tmp"

struct posix_volume {
	struct volume volume;
	char *path;
	int directory;
	int lock; /* -1: not held */
};

static inline struct posix_volume *posix(struct volume *v)
{
	return (struct posix_volume *)v;
}

#endif
