#ifndef STORE_BASE_VOLUME_VOLUME_POSIX_FILE_H
#define STORE_BASE_VOLUME_VOLUME_POSIX_FILE_H

#include "store/base/volume/posix_volume.h"

/*
 * Single files of the directory, whatever they are for. Each call makes system
 * calls and holds no state but the errors that it tells; path is for messages.
 */

/* 0, or -ERR_store_lost if v had the lease and has it no more: for all that
 * changes something. */
int posix_guard(const struct posix_volume *v);

/* "directory/name", to be freed, or NULL when there is no memory. */
char *posix_path(const struct posix_volume *v, const char *name);

/* Writes all of data where fd is, or fails; then part of it may be written. */
int posix_write_all(int fd, struct bytes data, const char *path);

/* fsync: content and size are durable, the name is not. */
int posix_sync_file(int fd, const char *path);

/* Makes durable which names there are. */
int posix_sync_directory(const struct posix_volume *v);

/* Writes name, at most VOLUME_NAME_MAX bytes, with POSIX_TMP behind it to tmp,
 * which has POSIX_TMP_NAME_SIZE bytes. */
void posix_tmp_name(const char *name, char *tmp);

/* Renames name.tmp to name, durably. Without replace, -EEXIST if there is one,
 * and after any failure there is no new file of that name. With replace, after
 * a failure other than -ENOSPC either of the two may be there. */
int posix_publish(struct posix_volume *v, const char *name, bool replace);

/* Removes name.tmp; whoever takes the lease does it where this fails. */
void posix_remove_tmp(const struct posix_volume *v, const char *name);

/* Calls each with every entry of the directory but . and .., in no order; a
 * result other than 0 ends that, and is returned if it is negative. */
int posix_each_entry(struct posix_volume *v,
		     int (*each)(void *context, const char *name),
		     void *context);

/* Whether name ends like that of a file on its way. */
bool posix_is_tmp(const char *name);

/* Whether name ends like that of held room. */
bool posix_is_spare(const char *name);

/* All of data at offset, wherever fd stands; on an error a part of it may be
 * written. path is for the message. */
int posix_write_at(int fd, struct bytes data, uint64_t offset,
		   const char *path);

/* Zeros over all that the file has, which leaves its blocks and its length. */
int posix_zero(int fd, const char *path);

/* As volume_ops.scratch. */
int posix_scratch(struct volume *volume);

#endif
