#ifndef STORE_ENGINE_RUN_OPEN_H
#define STORE_ENGINE_RUN_OPEN_H

#include "store/engine/core/engine.h"

/*
 * The beginning and the end of an engine. An engine is opened, closed and
 * abandoned by one thread, while no other uses it; in between any number do.
 */

/* The defaults of engine.h. */
void engine_options_init(struct engine_options *o);

/*
 * Opens the store on v, which must outlive the engine and stays the caller's; o
 * is copied, what it points at is not. Everything that was durable is there
 * again, and what else the logs still hold.
 *
 * -ERR_not_a_store without o->create, -ERR_store_in_use if another process may
 * write or, unless this is to read only, reads; -ERR_format_newer,
 * -ERR_manifest_damaged, -ERR_wal_damaged; -ENOSPC and the volume's other
 * errors. *out is NULL then, and the lease given back.
 */
int engine_open(struct volume *v, const struct engine_options *o,
		struct engine **out);

/* What recovery had to say, for people: a line for each log of which a torn
 * tail was cut. Empty when there is nothing to tell; valid as long as e. */
const char *engine_recovery_text(const struct engine *e);

/* Flushes, if there is much to, and syncs and ends the log cleanly. Everything
 * written is durable when it returns 0, whether or not there was room to flush.
 * All cursors, snapshots and large values must have been given back. Ends e in
 * every case. */
int engine_close(struct engine *e);

/* Ends e as if the process had died: nothing is synced. For tests, and for an
 * engine of which the opening failed half-way. */
void engine_abandon(struct engine *e);

#endif
