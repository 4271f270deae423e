#ifndef STORE_ENGINE_RUN_PENDING_H
#define STORE_ENGINE_RUN_PENDING_H

#include "store/engine/files/batch.h"

/*
 * A batch that is not written yet as readers would see it: a snapshot that
 * shows the engine with the batch's records on top. It holds while nothing else
 * is written, which its user sees to, and lives in the user's memory. One
 * thread uses it at a time. Zeroed, it is empty and ready.
 *
 * The snapshot is in no list of the engine's: merges do not keep anything for
 * it. They need not, since it sees no less than a read of the present does.
 */
struct engine;
struct engine_snapshot;
struct memtable;

struct pending {
	struct engine_snapshot *snapshot; /* owned; NULL until asked for */
	struct memtable *memtable; /* the batch's records; NULL: none yet */
	size_t position; /* in the batch: what follows is not in memtable */
	uint32_t count;  /* records of the batch that are in it */
	uint32_t range_count; /* of them, those of range tombstones */
};

/* Forgets it: the next pending_view begins anew. */
void pending_release(struct pending *p);

/*
 * Shows batch, which must be that of the last call, perhaps with more at its
 * end, or p be released before; and nothing else may have been written since
 * then. *out is p's, good for opening reads until the next call; cursors that
 * are open on an earlier one stay good. -ENOMEM; -ERR_batch_too_large if no
 * memtable can hold batch.
 */
int pending_view(struct pending *p, struct engine *e, const struct batch *batch,
		 const struct engine_snapshot **out);

#endif
