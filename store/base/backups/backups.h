#ifndef STORE_BASE_BACKUPS_BACKUPS_H
#define STORE_BASE_BACKUPS_BACKUPS_H

#include "store/base/buf.h"

/*
 * A directory of backups, as files: which there are, and that each comes and
 * goes at one moment. With one in it, it belongs to the store that its marker
 * names.
 *
 *   backups           "TabletFS backups, format 1\n", and the store as a line
 *   lock              locked (flock) by who makes or removes a backup; a line
 *                     tells who that is, or was last
 *   MOMENT            a backup, a directory, named after when it was made; as
 *                     names they are in the order of time
 *   MOMENT.partial    one that is being made or removed
 *   latest            a symbolic link to the newest, if links can be made
 *
 * One thread uses a struct backups. Each call tells what is wrong by fail().
 */
#define BACKUPS_MOMENT_SIZE 24 /* "20260105T101112.131415Z" and a NUL */
#define BACKUPS_MOMENT_MAX UINT64_C(253402300799999999) /* of the year 9999 */
#define BACKUPS_STORE_MAX 64

struct backups {
	char *path;                           /* owned */
	int directory;                        /* open */
	int lock;                             /* the file, locked, or -1 */
	char store[BACKUPS_STORE_MAX + 1];    /* "" until it is set */
	char (*moments)[BACKUPS_MOMENT_SIZE]; /* owned; ascending */
	size_t count, room;
};

/* The moment of this time, in microseconds since 1970, up to
 * BACKUPS_MOMENT_MAX. */
void backups_moment(uint64_t us, char moment[BACKUPS_MOMENT_SIZE]);

/* Opens a directory of backups. With create it is made if it is missing, and
 * one that is empty becomes one. -ENOENT; -ERR_not_backups for a store, and for
 * a directory that holds anything else; -EPERM if others may exchange what is
 * in it. *out is NULL on failure. */
int backups_open(const char *path, bool create, struct backups **out);

/* Whether this directory, which is open, lies in one of backups. */
bool backups_hold(int at);

/* Ends the lock. NULL is allowed. */
void backups_close(struct backups *b);

/* Locks it, and removes what a command left that was killed; the moments are
 * those of now. holder is a line for who comes second: -EBUSY names the one who
 * has it. */
int backups_lock(struct backups *b, const char *holder);

/* Makes the directory, which has no backup, that of this store. It is locked.
 */
int backups_claim(struct backups *b, const char *store);

/* Appends the path of a backup, or of the directory that is to become it; ended
 * by a NUL that counts as no part. */
int backups_path(const struct backups *b, const char *moment, bool partial,
		 struct buf *out);

/* Gives the partial backup its name, durably, as the newest. It is locked.
 * *is_latest_taken: a directory has the name of the link to it, and stays. */
int backups_publish(struct backups *b, const char *moment,
		    bool *is_latest_taken);

/* Removes a backup: first its name, durably, then its files. It is locked. */
int backups_remove(struct backups *b, const char *moment);

/* Bytes of a backup's files, and of those no other name is of. */
int backups_size(const struct backups *b, const char *moment, uint64_t *size,
		 uint64_t *own);

/* Opens a backup, or the directory that is to become one, which no link leads
 * to: a descriptor of the caller's, or an error. */
int backups_open_one(const struct backups *b, const char *moment, bool partial);

/* The same of a path that a user has named, where links may lead to it. */
int backups_open_path(const char *path);

/* Appends a file of the directory at, whose path is for messages, to out, which
 * is empty: -ENOENT, -EFBIG if it has more than max bytes. */
int backups_read_file(int at, const char *directory, const char *name,
		      size_t max, struct buf *out);

/* How many names the directory at has. */
int backups_count_names(int at, const char *directory, size_t *count);

/* Makes or replaces one, durably. */
int backups_write_file(int at, const char *directory, const char *name,
		       struct bytes content);

#endif
