#ifndef STORE_ENGINE_CORE_SPACE_H
#define STORE_ENGINE_CORE_SPACE_H

#include "store/engine/core/state.h"

/*
 * What data leaves free of the disk: compactions, which give space back, first
 * take some.
 */

/* Bytes that data may take before less is left than that; 0 if it is. */
uint64_t engine_data_space(const struct volume_space *space);

/* Whether little more than that is left. */
bool engine_space_short(const struct volume_space *space);

/* Whether at least half of what data leaves is there. */
bool engine_space_left(const struct volume_space *space);

/* 0 if size bytes of data outside the log may be written, which only looks. If
 * not, history gives way and what is dead is given back, for which it waits two
 * seconds at most, where there is a background; or -ENOSPC, and the background
 * goes on looking. With no lock that a commit or the background takes. */
int engine_admit_data(struct engine *e, uint64_t size);

#endif
