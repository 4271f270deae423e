#ifndef TOOLS_MOUNT_MOUNT_TABLE_H
#define TOOLS_MOUNT_MOUNT_TABLE_H

#include <stddef.h>

/*
 * The mounts that this process sees, of whatever kind, as the kernel's table
 * lists them: those below others come first. Reading it asks no filesystem
 * anything, so it does not wait for one that hangs. Names are as they were
 * given to mount(2), without the table's escapes; what getmntent(3) makes of a
 * store with a # in its name depends on the version of libc.
 */
struct mount_entry {
	char *line;   /* owned; the strings below are parts of it */
	char *device; /* "0:52": one for a mount and all its bind mounts */
	char *place;  /* the full path */
	char *store;  /* NULL: the mount is not one of tabletfs */
	unsigned int uid, gid; /* who mounted it; only with store */
};

struct mount_list {
	struct mount_entry *entries; /* owned */
	size_t count;
};

/* Fills list, which is to be released in every case. 0 or an error with its
 * detail: -ENOENT without /proc, -ENOMEM. */
int mount_list_read(struct mount_list *list);
/* The mounts that another process sees, by the path of its mountinfo. */
int mount_list_read_from(const char *path, struct mount_list *list);
void mount_list_release(struct mount_list *list);

/* What is mounted at a full path, the topmost if there are several; NULL if
 * nothing is. Lives as long as list. */
const struct mount_entry *mount_list_at(const struct mount_list *list,
					const char *place);

/* The directory of the store that is mounted at path, to be freed; NULL if none
 * is, or if that cannot be told. *device, if device is not NULL, is then the
 * mount's, to be freed, too, or NULL. */
char *mount_store_at(const char *path, char **device);

#endif
