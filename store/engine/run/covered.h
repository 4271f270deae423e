#ifndef STORE_ENGINE_RUN_COVERED_H
#define STORE_ENGINE_RUN_COVERED_H

#include "store/engine/core/state.h"

/*
 * What range tombstones cover comes back without the merge that would bring
 * them down to it: for when the disk is full. Both calls read the range
 * tombstones of all files, and need work.
 */

/* Drops the ssts in which nobody sees anything, since newer range tombstones
 * cover all of each: that needs no room but for an edit. 1 if there were some,
 * 0 if not, or an error. */
int engine_drop_covered(struct engine *e);

/* Chooses an sst of v a good part of which is covered, to be written anew in
 * its place, if there is room for the rest: free, or in a piece of held room.
 * As compact_pick; which of its options o are is not looked at. Files are read
 * to reckon that, each once for each newer tombstone; after some it is 0 with
 * *more set, so that other work gets its turn. */
int engine_pick_covered(struct engine *e, struct version *v, bool *more,
			struct compaction *out);

/* Whether c, which may be any, is such a choice and its output may take a piece
 * of held room: it fits one, the input becomes one when it goes, and no file
 * that has yet to go is waiting for a reader; so one piece at most is lent. */
bool engine_fits_piece(struct engine *e, const struct compaction *c);

#endif
