#ifndef STORE_ENGINE_RUN_COVERED_H
#define STORE_ENGINE_RUN_COVERED_H

#include "store/engine/core/state.h"

/*
 * What range tombstones cover, or was of a dropped table, comes back without
 * the merge that would bring them down to it: for when the disk is full. Reads
 * the range tombstones of all files; needs work.
 *
 * Ssts of which nobody sees anything are dropped all at once: newer range
 * tombstones cover each entry, or the table was dropped. That needs no room but
 * for an edit, and sets *more. If there are none, 1 with *out tells an sst of v
 * a good part of which is covered, to be written anew in its place, as there
 * may be room for the rest: free, or in a piece of held room. Else 0, or an
 * error. Files are read to reckon that, each once for each newer tombstone, and
 * only some at a call, so that other work gets its turn: then *more is set.
 */
int engine_free_covered(struct engine *e, struct version *v, bool *more,
			struct compaction *out);

/* The part of it that needs neither reading nor room: drops the ssts of which
 * nobody sees anything. 1, 0 if there are none, or an error. Range tombstones
 * count if they are not too many to be gathered. */
int engine_drop_covered(struct engine *e, struct version *v);

/* Whether c, which may be any, is such a choice and its output may take a piece
 * of held room: it fits one, the input becomes one when it goes, and no file
 * that has yet to go is waiting for a reader; so one piece at most is lent. */
bool engine_fits_piece(struct engine *e, const struct compaction *c);

#endif
