#ifndef STORE_ENGINE_RUN_ROTATE_H
#define STORE_ENGINE_RUN_ROTATE_H

#include "store/engine/core/state.h"

/* Starts a new log and memtable with an arena of at least arena_size; the
 * present one waits for its flush. Needs commit. */
int engine_rotate(struct engine *e, size_t arena_size);

#endif
