#ifndef STORE_ENGINE_LARGE_BLOB_GC_H
#define STORE_ENGINE_LARGE_BLOB_GC_H

#include "store/engine/core/state.h"
#include "store/engine/large/blobs.h"

/*
 * Collecting blob files. One that nothing refers to any more goes. Of one more
 * than half of which is garbage, each compaction moves the chunks that it meets
 * into the present file; and where nothing else is to be done, compactions are
 * run for that alone. For less garbage they are run when nobody writes, if it
 * is an eighth of all, when room is short, and when a compaction was asked for.
 * Worst files first; and only those whose live bytes there is room for, so that
 * on a full disk one file makes room for the next. All calls need the engine's
 * lock work, and no other.
 */

/* A file is emptied for so much garbage: one byte in so many. To free one, no
 * more than as many less one are written. */
#define BLOB_SHARE 2        /* by any compaction */
#define BLOB_DEAD_SHARE 8   /* when nobody writes, or room is short */
#define BLOB_ASKED_SHARE 16 /* when it was asked for */

/* Drops the files that nothing refers to: 1 if there were any, 0, or an error.
 * They are removed when no version holds them any more. */
int blob_drop_unused(struct engine *e);

/* Ends the present file, however small, if one in share of its bytes is of no
 * use to ssts, so that it can be dropped or emptied; settled: only if nothing
 * else refers to it, neither commits that are not flushed yet nor who is about
 * to commit. 0 or an error. */
int blob_end_growing(struct engine *e, unsigned int share, bool settled);

/* Whether one in share of the bytes of all blob files is garbage that is known.
 * What commits in memtables refer to may be so too, which is not known. */
bool blob_is_dead(struct engine *e, unsigned int share);

/* The next compaction that brings chunks out of a file by BLOB_SHARE: 1 with
 * *out, which is to be released and borrows from v; 0 if there is none, or
 * there is no room; or an error. */
int blob_pick(struct engine *e, struct version *v,
	      const struct compaction_options *o, struct compaction *out);

/* As blob_pick, by BLOB_DEAD_SHARE. */
int blob_pick_dead(struct engine *e, struct version *v,
		   const struct compaction_options *o, struct compaction *out);

/* As blob_pick, by BLOB_ASKED_SHARE. */
int blob_pick_asked(struct engine *e, struct version *v,
		    const struct compaction_options *o, struct compaction *out);

/* When blob_pick_asked has found nothing more: -ENOSPC if it would have with
 * more room, else 0 or an error. */
int blob_left_out(struct engine *e);

/* What a merge needs to move chunks. It belongs to one merge. */
struct blob_mover {
	struct engine *e;
	const struct version *version; /* borrowed */
	struct blob_file **sources; /* to be emptied, worst first; of version */
	size_t source_count;
	bool left_out;           /* another would be one, if there were room */
	struct blob_holds holds; /* where the chunks went, until it is released:
				    by then an sst refers to them */
	struct blob_list from, to; /* the list moved last, before and after */
	struct buf scratch, chunk; /* one chunk as stored, and as it is */
	struct buf encoded;        /* the list moved last */
	bool moved;                /* there is something to be synced */
};

/* To empty files by share; 0: BLOB_SHARE. v stays referenced. Nothing to move:
 * then source_count is 0. 0, -ENOMEM or what looking for room meets; m is to be
 * released in any case. */
int blob_mover_init(struct blob_mover *m, struct engine *e,
		    const struct version *v, unsigned int share);

void blob_mover_release(struct blob_mover *m);

/* Replaces the references in *value, if they are to a file that is to be
 * emptied, by others that are valid until the next call. For merge_context.
 * -ERR_blob_damaged if *value is no list of references; -ENOMEM; errors of
 * appending. Whoever commits the new references calls blob_sync before. */
int blob_mover_move(void *mover, struct bytes *value);

#endif
