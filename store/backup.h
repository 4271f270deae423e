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

struct backup_result {
	uint64_t linked_count, copied_count; /* files */
	uint64_t size;                       /* bytes of them */
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

/*
 * Makes a directory with a store that holds what is pinned; files are linked
 * where that is possible. It is built as DIRECTORY.partial, which a failure
 * leaves behind, and gets its name when it is whole and durable. -EEXIST if
 * there is anything of either name, before anything is pinned. *result counts
 * what was brought, also after a failure.
 */
int backup_make(const struct backup_source *from, const char *directory,
		struct backup_result *result);

/* As backup_make, of a store that is open in this process. */
int store_backup(struct store *s, const char *directory,
		 struct backup_result *result);

#endif
