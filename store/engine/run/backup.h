#ifndef STORE_ENGINE_RUN_BACKUP_H
#define STORE_ENGINE_RUN_BACKUP_H

#include "store/backup.h"
#include "store/engine/core/engine.h"

/* Makes of an empty volume a store that holds all that was written before,
 * while others go on to write. After a failure it is no store. */
int engine_backup(struct engine *e, struct volume *to,
		  struct backup_result *result);

#endif
