#ifndef STORE_ENGINE_LARGE_BLOB_GC_H
#define STORE_ENGINE_LARGE_BLOB_GC_H

#include "store/engine/core/state.h"
#include "store/engine/large/blobs.h"

/*
 * Collecting blob files. One that nothing refers to any more goes. Of one more
 * than half of which is garbage, each compaction moves the chunks that it meets
 * into the present file; and where nothing else is to be done, compactions are
 * run for that alone, oldest file first. All calls need the engine's lock work,
 * and no other.
 */

/* Drops the files that nothing refers to: 1 if there were any, 0, or an error.
 * They are removed when no version holds them any more. */
int blob_drop_unused(struct engine *e);

/* As blob_drop_unused, for a full disk: the present file, however small, is
 * ended before, if ssts refer to less than half of it. */
int blob_drop_growing(struct engine *e);

/* The next compaction that brings chunks out of a file that is mostly garbage:
 * 1 with *out, which is to be released and borrows from v; 0 if there is none,
 * or -ENOMEM. */
int blob_pick(struct engine *e, struct version *v,
	      const struct compaction_options *o, struct compaction *out);

/* What a merge needs to move chunks. It belongs to one merge. */
struct blob_mover {
	struct engine *e;
	const struct version *version; /* borrowed */
	struct blob_file **sources;    /* to be emptied, by id; of version */
	size_t source_count;
	struct blob_holds holds; /* where the chunks went, until it is released:
				    by then an sst refers to them */
	struct blob_list from, to; /* the list moved last, before and after */
	struct buf scratch, chunk; /* one chunk as stored, and as it is */
	struct buf encoded;        /* the list moved last */
	bool moved;                /* there is something to be synced */
};

/* v stays referenced. Nothing to move: then source_count is 0. 0 or -ENOMEM; m
 * is to be released in any case. */
int blob_mover_init(struct blob_mover *m, struct engine *e,
		    const struct version *v);

void blob_mover_release(struct blob_mover *m);

/* Replaces the references in *value, if they are to a file that is to be
 * emptied, by others that are valid until the next call. For merge_context.
 * -ERR_blob_damaged if *value is no list of references; -ENOMEM; errors of
 * appending. Whoever commits the new references calls blob_sync before. */
int blob_mover_move(void *mover, struct bytes *value);

#endif
