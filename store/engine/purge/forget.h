#ifndef STORE_ENGINE_PURGE_FORGET_H
#define STORE_ENGINE_PURGE_FORGET_H

#include "store/engine/core/state.h"

/* Lets nothing of files that have gone be found: edits begin anew, all files
 * that no version has are removed, durably, and held room is overwritten. Waits
 * wait_ms for those that are still read: then -EBUSY, with who that may be.
 * Flushes go before. Needs work. */
int forget_files(struct engine *e, unsigned int wait_ms);

#endif
