#ifndef STORE_BASE_BACKUPS_DIGESTS_H
#define STORE_BASE_BACKUPS_DIGESTS_H

#include "store/base/buf.h"
#include "store/base/volume/volume_copy.h"
#include "store/base/volume/volume_posix.h"

/*
 * What the files of a backup hold, and of which files of the store they were
 * made: by this the next backup knows which it need not copy, and who restores
 * one whether it is still what it was. As text, which store/README.md has to
 * the byte; a backup keeps it beside its files, of which it is none to the
 * store. Pure functions; no byte that is read is trusted.
 */
struct backup_file {
	char name[VOLUME_NAME_MAX + 1];
	uint64_t size;
	bool has_digest; /* else it was linked, and nobody read it */
	struct digest digest;
	struct file_mark source; /* without its device; zeros: unknown */
};

/* Of the text of one, longer than any. */
#define BACKUP_FILE_TEXT_MAX (VOLUME_NAME_MAX + 3 * 21 + 2 * DIGEST_SIZE + 8)

/* Zeroed, there are none. */
struct backup_digests {
	struct backup_file *files; /* owned */
	size_t count, room;
};

/* 0 or -ENOMEM. */
int backup_digests_add(struct backup_digests *d, const struct backup_file *f);

/* Sorts files by name, for backup_digests_find and backup_digests_encode. */
void backup_digests_sort(struct backup_digests *d);

/* NULL if there is none. The files are sorted. */
const struct backup_file *backup_digests_find(const struct backup_digests *d,
					      const char *name);

/* Appends the text. The files are sorted. 0 or -ENOMEM. */
int backup_digests_encode(const struct backup_digests *d, struct buf *out);

/* Replaces *d, which is not released before; its files are sorted.
 * -ERR_check_failed, and then it has none, if the text was changed by anybody.
 * path, of its file, is for the message, which names the line. */
int backup_digests_decode(const char *path, struct bytes text,
			  struct backup_digests *d);

void backup_digests_release(struct backup_digests *d);

#endif
