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

/* A memtable of so many bytes is flushed for room: it may supersede as much. */
#define SPACE_MEMTABLE_MIN ((size_t)1 << 20)

/* Waits while the background looks for what is dead, and history of size bytes
 * gives way, until fits says 1 or an error, or it is 0 for two seconds, or
 * there is nothing more: what fits said last. 0 at once where there is no
 * background, and for some time after a wait in vain, unless something was
 * written. With no lock that a commit or the background takes. */
int engine_wait_for_room(struct engine *e, uint64_t size,
			 int (*fits)(void *context), void *context);

/* 0 if size bytes of data outside the log may be written, which only looks, or
 * waits as engine_wait_for_room; or -ENOSPC, and the background goes on
 * looking. */
int engine_admit_data(struct engine *e, uint64_t size);

#endif
