#ifndef STORE_ENGINE_LARGE_BLOB_RECOVER_H
#define STORE_ENGINE_LARGE_BLOB_RECOVER_H

#include "store/engine/large/blobs.h"

/*
 * Large values when a store is opened, before anyone else uses the engine: no
 * locks are needed.
 */

/*
 * While logs are replayed: whether what batch refers to is there. 0 yes, 1 no,
 * but the record was not known durable; negative: it cannot be told, such as
 * -EIO, or a list that is damaged. record_synced tells that the record was
 * known durable: then only places are looked at, else each chunk is read. What
 * is there is fresh_large, for it came with the present memtable.
 */
int blob_check_record(struct engine *e, const struct batch *batch,
		      bool record_synced);

/* Finishes the files that a former life left growing, each with the size that
 * it has now, by one edit. Nothing to do on a read-only store, which calls it
 * not. */
int blob_recover(struct engine *e);

#endif
