#ifndef STORE_ENGINE_RUN_BACKUP_H
#define STORE_ENGINE_RUN_BACKUP_H

#include "store/backup.h"
#include "store/engine/core/engine.h"

/*
 * Makes of to, an empty volume whose lease the caller holds, a store that holds
 * all that was written before the call, and perhaps some of what comes after.
 * Writers wait while the last memtable is flushed, not while files are linked
 * or copied. *result counts what was brought, also after a failure; then to is
 * no store, as it has no root, and its files are the caller's to remove.
 */
int engine_backup(struct engine *e, struct volume *to,
		  struct backup_result *result);

#endif
