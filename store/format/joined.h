#ifndef STORE_FORMAT_JOINED_H
#define STORE_FORMAT_JOINED_H

#include "store/aggregate.h"

/*
 * What states of one version come to, where the family's type is not known: a
 * memtable is written before the schema is read. Numbers give their sum, least
 * and greatest, sketches one sketch; a state is of one sort or the other by
 * its size. It is of memory alone and in no file.
 */

/* Merges a state into the bytes in to, which are empty or made by this: 1; 0 if
 * it is no state, or of the other sort, and to is as before; -ENOMEM, and to is
 * of no use. */
int joined_add(struct buf *to, struct bytes state);

/* The state of this kind that joined bytes hold, a part of them; empty if they
 * hold the other sort, which adds nothing. */
struct bytes joined_state(struct bytes joined, enum aggregate_kind kind);

#endif
