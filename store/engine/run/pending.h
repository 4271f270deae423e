#ifndef STORE_ENGINE_RUN_PENDING_H
#define STORE_ENGINE_RUN_PENDING_H

#include "store/engine/files/batch.h"

/*
 * A batch that is not written yet as readers would see it: a snapshot that
 * shows the engine with the batch's records on top. It holds while nothing else
 * is written, which its user sees to, and lives in the user's memory.
 */
struct engine;
struct engine_snapshot;
struct memtable;

struct pending {
	struct engine_snapshot *snapshot; /* NULL until asked for */
	struct memtable *memtable;
	size_t position; /* in the batch: what follows is not in yet */
	uint32_t count;  /* records that are */
	uint32_t range_count;
};

/* Forgets it: the next pending_view begins anew. */
void pending_release(struct pending *p);
/* The batch must be that of the last call, perhaps with more at its end, or p
 * be released before. The snapshot is p's, good until the next call. */
int pending_view(struct pending *p, struct engine *e, const struct batch *batch,
		 const struct engine_snapshot **out);

#endif
