#ifndef STORE_ENGINE_RUN_BACKUP_H
#define STORE_ENGINE_RUN_BACKUP_H

#include "store/backup.h"
#include "store/base/backups/digests.h"
#include "store/engine/core/engine.h"
#include "store/engine/files/manifest_root.h"
#include "store/engine/files/version.h"

/*
 * Pins all that was written before the call, and perhaps some of what comes
 * after: *pin is a version, to be unpinned, that keeps the files which contents
 * tells of. Writers wait while the last memtable is flushed, not as long as the
 * pin lasts, which holds no lock. -ERR_store_readonly; *pin is NULL on failure.
 */
int engine_pin(struct engine *e, struct buf *contents, struct version **pin);

/* Ends such a pin. NULL is allowed. */
void engine_unpin(struct engine *e, struct version *pin);

/* A source of e's own, which pins by engine_pin; e and own, which it sets,
 * outlive it. */
struct engine_source {
	struct engine *engine;
	struct version *pin;
};
struct backup_source engine_source(struct engine *e, struct engine_source *own);

/* The same of a store that nobody has open to write, such as a backup: what its
 * manifest says. -EINVAL if it has logs, as one that was written to. */
int backup_contents(struct volume *v, struct buf *contents);

/* Where files come from, and what becomes known of them. Zeroed, each is linked
 * if that is possible, else copied. What is pointed to is borrowed. */
struct backup_how {
	/* Asked before anything is brought; 0, or an error that ends it. */
	int (*accept)(void *context, const struct manifest_root *root);
	void *context;
	/* Asked before each file; 0, or an error that ends it. Or NULL. */
	int (*check)(void);
	bool copies; /* no file of the source itself is linked */
	/* A backup of the same store, and its digests: files that are the same
	 * there are linked from it. Or NULL. */
	struct volume *older;
	const struct backup_digests *known;
	/* What the files must be: -ERR_check_failed. Or NULL. */
	const struct backup_digests *expected;
	struct backup_digests *brought; /* to which all are added, or NULL */
};

/*
 * Makes of to, an empty volume whose lease the caller holds, a store that holds
 * what from pins: the pin begins and ends in here. What is copied is read back,
 * and ssts and large values are verified: -ERR_blob_damaged and the like. how
 * may be NULL: zeroed. *result counts what was brought, also after a failure;
 * then to is no store, as it has no root, and its files are the caller's to
 * remove.
 */
int backup_bring(const struct backup_source *from, const struct backup_how *how,
		 struct volume *to, struct backup_result *result);

/*
 * That the backup at v has every file that its manifest names, and each holds
 * what expected has of it: -ERR_check_failed, or the error of reading it. like,
 * a backup for which this was 0, with its digests known, may be NULL; a file
 * that both have is not read again.
 */
int backup_verify(struct volume *v, const struct backup_digests *expected,
		  struct volume *like, const struct backup_digests *known);

/*
 * The same, of what expected tells alone: each file that is not what it has of
 * it, and each of which it tells and that the manifest does not name, is told
 * to report, a sentence each, and the next one looked at. How many were told,
 * or the error of reading the manifest, or -ENOMEM.
 */
int backup_compare(struct volume *v, const struct backup_digests *expected,
		   void (*report)(void *context, const char *problem),
		   void *context);

#endif
