#ifndef STORE_VOLUME_POSIX_H
#define STORE_VOLUME_POSIX_H

#include "store/base/volume.h"

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

/* Makes the directory if it is missing; checks or writes the marker. */
int posix_make_directory(struct posix_volume *v);
int posix_check_marker(struct posix_volume *v, bool create);

int posix_root_get(struct volume *volume, uint64_t *version, struct buf *out);
int posix_root_swap(struct volume *volume, uint64_t expected,
		    struct bytes content);
int posix_lease_take(struct volume *volume, const char *holder);
int posix_lease_describe(struct volume *volume, const char *holder);
void posix_lease_release(struct volume *volume);

#endif
