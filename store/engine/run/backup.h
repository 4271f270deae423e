#ifndef STORE_ENGINE_RUN_BACKUP_H
#define STORE_ENGINE_RUN_BACKUP_H

#include "store/backup.h"
#include "store/engine/core/engine.h"
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

/*
 * Makes of to, an empty volume whose lease the caller holds, a store that holds
 * what from pins: the pin begins and ends in here. *result counts what was
 * brought, also after a failure; then to is no store, as it has no root, and
 * its files are the caller's to remove.
 */
int backup_bring(const struct backup_source *from, struct volume *to,
		 struct backup_result *result);

#endif
