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

/* 0 if size bytes of data outside the log may be written, which only looks. If
 * not, history gives way, for which it waits two seconds at most, where there
 * is a background and history; or -ENOSPC, and the background looks for what
 * can be given back. */
int engine_admit_data(struct engine *e, uint64_t size);

/* Waits as long for history to give way, of which size bytes are to go, while
 * fits says 0: what it says last, 1 or an error. 0 at once where there is no
 * background or no history. Not with a lock that commits or background work
 * need. */
int engine_wait_for_history(struct engine *e, uint64_t size,
			    int (*fits)(void *context), void *context);

/* Whether so many large values came with the present memtable that it may be
 * worth a flush what they supersede, when room is short. */
bool engine_brought_large(const struct engine *e);

#endif
