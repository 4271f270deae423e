#ifndef STORE_ENGINE_COMPACT_MERGE_H
#define STORE_ENGINE_COMPACT_MERGE_H

#include "store/format/iter.h"

/*
 * Merges sorted sources into one iterator by a binary heap. No key may be in
 * two sources; keys hold their sequence, so none is. All of iter.h is
 * supported. For skip, sources whose row goes on past the target are sought
 * instead, since only the merge's own row is known to be left behind.
 *
 * The array is copied. The sources pass to the merge, which closes them; so it
 * does when this fails.
 */
int merge_iter_new(struct iter **sources, size_t count, struct iter **out);

#endif
