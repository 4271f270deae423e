#ifndef STORE_ENGINE_LARGE_BLOB_RECOVER_H
#define STORE_ENGINE_LARGE_BLOB_RECOVER_H

#include "store/engine/large/blobs.h"

/*
 * While logs are replayed: whether what batch refers to is there. 0 yes, 1 no,
 * but the record was not known durable, negative: it is damage. record_synced
 * tells that it was: then only places are looked at.
 */
int blob_check_record(struct engine *e, const struct batch *batch,
		      bool record_synced);

/* Finishes the files that a former life left growing. */
int blob_recover(struct engine *e);

#endif
