#ifndef STORE_ENGINE_RUN_COVERED_H
#define STORE_ENGINE_RUN_COVERED_H

#include "store/engine/core/state.h"

/*
 * Drops the ssts in which nobody sees anything, since newer range tombstones
 * cover all of each: that needs no room but for an edit. 1 if there were some,
 * 0 if not, or an error. Needs work. Reads the range tombstones of all files:
 * for when the disk is full.
 */
int engine_drop_covered(struct engine *e);

#endif
