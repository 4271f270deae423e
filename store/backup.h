#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store/base/volume/volume.h"

/*
 * Backups of a store that goes on: readers and writers need not wait but for
 * the flush of what is in memory. Who has the store pins what is to be in the
 * backup; who makes the backup, which may be another process, brings the files.
 */
struct store;
struct backup_pin;

/* The moment of a backup, which is its name in a directory of backups, and a
 * NUL. As names, moments are in the order of time. */
#define BACKUP_MOMENT_SIZE 24

struct backup_result {
	char moment[BACKUP_MOMENT_SIZE]; /* "" of what has none */
	/* Files: of an earlier backup; the store's own; new ones. */
	uint64_t shared_count, linked_count, copied_count;
	uint64_t size;        /* bytes of them all */
	uint64_t copied_size; /* of the new ones */
	/* Of those that were to be shared, but are not any more what the
	 * earlier backup had: they were brought anew. The first's name. */
	uint64_t damaged_count;
	char damaged[VOLUME_NAME_MAX + 1];
	bool is_latest_taken; /* by what cannot be replaced by the link */
	/* Of earlier backups; and of those that were to be, but somebody has
	 * them open; and that could not be, and why the first could not. */
	unsigned int removed_count, busy_count, stayed_count;
	char stayed_why[200];
};

/* Where a backup's files come from. */
struct backup_source {
	struct volume *volume; /* borrowed; need not have a lease */
	/* Pins what is to be in the backup and appends its description to
	 * contents, as store_pin does. */
	int (*pin)(void *context, struct buf *contents);
	/* Ends the pin, also after a failure of what comes between: 0 if it
	 * lasted until now, else why it did not. */
	int (*unpin)(void *context);
	void *context;
};

/*
 * Fixes what the store holds at some moment of the call, which is durable then:
 * no file of that goes before store_unpin, whatever is written, dropped and
 * compacted meanwhile. Nobody waits for the end of a pin, but the files take
 * space as long. Appends to contents what backup_make reads, in bytes whose
 * meaning is known there. *out is NULL on failure.
 */
int store_pin(struct store *s, struct buf *contents, struct backup_pin **out);

/* NULL is allowed. Not after the store was closed, with which pins end. */
void store_unpin(struct store *s, struct backup_pin *pin);

/* How a backup is made. */
struct backup_options {
	unsigned int keep; /* remove older ones beyond so many; 0: keep all */
	bool link;         /* files may be the store's own, by hard links */
};

/*
 * Adds what is pinned to a directory of backups, as one more store in it, which
 * has its name when it is whole and durable. A file that the newest one has is
 * its file, by a hard link, where links can be made; what it has not, or has
 * not any more as it was, is copied, and read back. The directory is locked
 * meanwhile (-EBUSY), made if it is not there, and belongs to the store of
 * those in it: -ERR_foreign_backups names both of another, and also says that
 * the directory is ahead of the store. -ERR_not_backups of a directory of
 * anything else, a store among it. A failure leaves what was there as it was;
 * what a kill leaves is removed by the next call. *result counts what was
 * brought, also after a failure. A place that is no directory takes one backup,
 * with no options: -EEXIST if a store is there.
 */
int backup_make(const struct backup_source *from, const char *where,
		const struct backup_options *o, struct backup_result *result);

/* As backup_make, of a store that is open in this process. */
int store_backup(struct store *s, const char *directory,
		 const struct backup_options *o, struct backup_result *result);

/* A backup in a directory of them. */
struct backup_info {
	char moment[BACKUP_MOMENT_SIZE];
	uint64_t size;     /* bytes of its files */
	uint64_t own_size; /* of those that no other name is of */
	/* It is no store any more, and sizes are 0, or it was verified, and a
	 * file is not what it was: err_detail() says what is wrong. */
	bool is_damaged;
	int err;             /* why nothing is known of it, such as -EIO, or 0;
				err_detail() has more */
	bool was_written_to; /* since: it is a store of its own, not removed
				by keep and not restored from */
};

/* Calls each with every entry of a directory, oldest first, until that is not
 * 0, which is returned. With verify all files are read, each once, and compared
 * with what was backed up. Takes no lock. -ENOENT, -ERR_not_backups. */
int backup_list(const char *directory, bool verify,
		int (*each)(void *context, const struct backup_info *info),
		void *context);

/*
 * Whether s, if it is a backup in a directory that nobody has written to since,
 * is what was backed up: its digests are there and whole, and each file is what
 * they tell. All files are read. Former releases made some without digests, of
 * which nothing is told, as of what is no backup. Each problem is told to
 * report, as of store_check: -ERR_check_failed; or what kept something from
 * being read.
 */
int store_check_backup(struct store *s,
		       void (*report)(void *context, const char *problem),
		       void *context);

/*
 * Sets path to that of the store which from names, ended by a NUL: DIR@MOMENT,
 * of which the beginning is enough and the newest that begins so is meant; DIR
 * for the newest one; or a DIR that is a backup itself. -ERR_no_backup names
 * the moment that is not there; -ENOENT, -ERR_not_backups.
 */
int backup_find(const char *from, struct buf *path);

/*
 * Makes a directory, of which the name is free, a store that holds what the
 * backup does which from names, as backup_find has it: all of it copied, read
 * back, and compared with what was backed up (-ERR_check_failed). It is made as
 * DIRECTORY.partial/store, which a failure removes. check, unless it is NULL,
 * is asked before each file: 0, or an error that ends it. The result is that of
 * backup_make.
 */
int backup_restore(const char *from, const char *directory, int (*check)(void),
		   struct backup_result *result);

#endif
