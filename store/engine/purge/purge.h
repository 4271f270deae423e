#ifndef STORE_ENGINE_PURGE_PURGE_H
#define STORE_ENGINE_PURGE_PURGE_H

#include "store/engine/core/engine.h"
#include "store/engine/purge/erasing.h"
#include "store/purge.h"

/*
 * Erasing keys from all files of a store, those of the past among them. Who
 * calls it has deleted what can be read of them before; what is written to them
 * from then on stays.
 *
 *   flush          no log that is named has them, nor a memtable
 *   write anew     each sst and history file that has any of them, without;
 *                  large values leave the blob files that have garbage
 *   one edit       all of these files change places; a crash before it leaves
 *                  all as it was, one behind it what the next opening removes
 *   forget         edits, which name bounds of files, begin anew; the files
 *                  before are removed, and held room is overwritten
 *
 * A crash may leave any of the last step undone: then, and whatever came of it
 * before, calling it again is what ends it.
 */

/*
 * ranges ascend and do not overlap; what is newer than seq,
 * which is visible, stays. Waits wait_ms for who still
 * reads files that have gone. Counts in r, also after a failure.
 *
 * -EBUSY: someone still does, whom err_detail() names, or writes to large
 * values; else all is erased. -ENOSPC: files need room to be written anew;
 * nothing has changed. -ERR_store_readonly; errors of reading, which may be
 * damage, and of writing.
 */
int engine_purge(struct engine *e, const struct erase_range *ranges,
		 size_t count, uint64_t seq, unsigned int wait_ms,
		 struct purge_result *r);

#endif
