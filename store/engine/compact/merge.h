#ifndef STORE_ENGINE_COMPACT_MERGE_H
#define STORE_ENGINE_COMPACT_MERGE_H

#include "store/format/iter.h"

/*
 * Merges sorted sources into one iterator by a binary heap. Keys hold their
 * sequence, so none is in two sources, but for what a repair gathers without a
 * manifest: then it is shown once for each source. All of iter.h is supported.
 * For skip, sources whose row goes on past the target are sought instead, since
 * only the merge's own row is known to be left behind.
 *
 * The array is copied. The sources pass to the merge, which closes them; they
 * are closed, too, when this fails, which is -ENOMEM. No source is an empty
 * merge. The first error of a source is the merge's.
 */
int merge_iter_new(struct iter **sources, size_t count, struct iter **out);

#endif
