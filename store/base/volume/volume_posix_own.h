#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_OWN_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_OWN_H

#include "store/base/volume/posix_volume.h"

/*
 * What a POSIX volume has that the engine gives no name: the directory itself,
 * the marker that says it is a store, the root; and what is done to directories
 * of stores from outside.
 */

/* Makes the directory of v->path, durably, if it is missing, and is 1 then; v
 * need not be open. */
int posix_make_directory(struct posix_volume *v);

/*
 * -EPERM if the directory is another user's, or all may write to it, who could
 * exchange its files for others, under the hands of root, too. Root's own is
 * anybody's who may read it.
 */
int posix_check_owner(const struct posix_volume *v);

/* As volume_marked (place.h). */
int volume_posix_marked(const char *directory, struct volume_mark *out);

/* 0 if the marker says that this is a store of a format that is known, else
 * -ERR_not_a_store, -ERR_format_newer, or -ERR_manifest_damaged if there is a
 * root none the less. With create, a directory that has none and no other files
 * gets one. */
int posix_check_marker(struct posix_volume *v, bool create);

/* Judge the content of these files, wherever it is from: 0 or the errors of
 * root_get and of posix_check_marker. path, of the file, and directory are for
 * messages; content points into file. */
int posix_root_parse(const char *path, struct bytes file, uint64_t *version,
		     struct bytes *content);
int posix_marker_parse(const char *directory, struct bytes text);

/* These are operations of the volume, see volume.h. */
int posix_root_get(struct volume *volume, uint64_t *version, struct buf *out);
int posix_root_swap(struct volume *volume, uint64_t expected,
		    struct bytes content);

/* 0 if there is nothing of this name yet, or -EEXIST; -ENOENT of "". Somebody
 * may make it right after, so what needs it to be free must fail by itself. */
int volume_posix_free_name(const char *path);

/* Makes a new directory, in TMPDIR or /var/tmp, for a store on its way to a
 * place that is none, and sets out to its name, ended by a NUL. */
int volume_posix_temporary(struct buf *out);

/* Renames a directory durably, to a name that is free: -EEXIST. After a failure
 * of the sync it has the new name. */
int volume_posix_rename(const char *from, const char *to);

/* Removes the files of a directory, which the caller has made, as far as that
 * can be done. err_detail() stays as it is. */
void volume_posix_clear(const char *directory);

/* Removes the directory, too. */
void volume_posix_discard(const char *directory);

#endif
