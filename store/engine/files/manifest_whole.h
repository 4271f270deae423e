#ifndef STORE_ENGINE_FILES_MANIFEST_WHOLE_H
#define STORE_ENGINE_FILES_MANIFEST_WHOLE_H

#include "store/engine/files/manifest.h"

/*
 * Whether m, as it was just read from the edit log of this id, is all that was
 * made durable, as far as the other files can tell: 0; -ERR_manifest_damaged,
 * with a file that m does not name and no crash leaves; -ERR_wal_damaged, with
 * a log that m names and that is missing; -ENOMEM, errors of reading. all has
 * as dropped what the edits dropped. To be asked before the next epoch is
 * taken: repair takes what is of an earlier epoch than the edit log for
 * obsolete. Changes nothing.
 */
int manifest_whole(const struct manifest *m, uint64_t edits_id,
		   const struct edit *all);

/* What it means that there is no root: -ERR_not_a_store, but with any other
 * file of a store -ERR_manifest_damaged; errors of listing. */
int manifest_no_root(struct volume *v);

#endif
