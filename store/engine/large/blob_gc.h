#ifndef STORE_ENGINE_LARGE_BLOB_GC_H
#define STORE_ENGINE_LARGE_BLOB_GC_H

#include "store/engine/core/state.h"
#include "store/engine/large/blobs.h"

/*
 * Collecting blob files. One that nothing refers to any more goes. Of one more
 * than half of which is garbage, each compaction moves the chunks that it meets
 * into the present file; and where nothing else is to be done, compactions are
 * run for that alone, oldest file first. All calls need work.
 */

/* Drops the files that nothing refers to: 1 if there were any, 0, or an
 * error. */
int blob_drop_unused(struct engine *e);

/* The next compaction that brings chunks out of a file that is mostly garbage:
 * 1 with *out, 0 if there is none, or an error. */
int blob_pick(struct engine *e, struct version *v,
	      const struct compaction_options *o, struct compaction *out);

/* What a merge needs to move chunks. */
struct blob_mover {
	struct engine *e;
	const struct version *version;
	struct blob_file **sources; /* to be emptied, by id; of version */
	size_t source_count;
	struct blob_holds holds;
	struct blob_list from, to; /* the list moved last, before and after */
	struct buf scratch, chunk, encoded;
	bool moved;
};

/* v stays referenced. Nothing to move: then source_count is 0. */
int blob_mover_init(struct blob_mover *m, struct engine *e,
		    const struct version *v);
void blob_mover_release(struct blob_mover *m);
/* Replaces the references in *value, if they are to such a file, by others that
 * are valid until the next call. For merge_context. */
int blob_mover_move(void *mover, struct bytes *value);

#endif
