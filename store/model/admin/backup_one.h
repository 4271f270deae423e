#ifndef STORE_MODEL_ADMIN_BACKUP_ONE_H
#define STORE_MODEL_ADMIN_BACKUP_ONE_H

#include "store/base/backups/digests.h"
#include "store/engine/files/manifest_root.h"

/*
 * What one backup has besides its files: a root, which says of which store it
 * was made, and digests, which tell what its files hold.
 */

/* Of which store the backup at v was made, and when in it; its own id is none
 * until it is written to. The errors of root_get. */
int backup_read_root(struct volume *v, struct manifest_root *root);

/* Whether this error of opening one, or of its root, says that it is no store:
 * it was damaged, or removed in part. */
bool backup_is_none(int err);

/* Of the directory at; path, its own, is for messages. *out is to be released,
 * after an error, too. -ERR_check_failed; -ENOENT of what no directory of
 * backups holds, as former releases made them. */
int backup_read_digests(int at, const char *path, struct backup_digests *out);

/* Sorts them, and makes or replaces the file, durably. */
int backup_write_digests(int at, const char *path, struct backup_digests *d);

#endif
