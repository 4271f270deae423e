#ifndef STORE_MODEL_BURY_H
#define STORE_MODEL_BURY_H

#include "store/engine/files/batch.h"
#include "store/model/model.h"

/*
 * Deletions of what GC rules hide now; bury.c says why. All need s->writing.
 * Readers see no difference, so they need not commit with what they are made
 * for: many are written in several batches, and what was written stays if the
 * rest fails.
 */

/* A batch is written when it has this many: a family, or the columns of one
 * request, may have more than BATCH_RECORDS_MAX takes. */
#define BURIED_AT_ONCE 1000

/* Adds to out what deletes the hidden versions of the column with this encoded
 * prefix: one range, or nothing. */
int bury_column(struct store *s, struct bytes column, struct batch *out);

/* Writes what has been added and empties the batch, also on failure. Errors of
 * engine_write. */
int bury_now(struct store *s, struct batch *batch);

/* Deletes the hidden versions of all columns of a family. Walks the whole
 * table. */
int bury_family(struct store *s, uint32_t table, struct bytes family);

#endif
