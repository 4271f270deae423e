#ifndef STORE_ENGINE_RUN_ROOM_H
#define STORE_ENGINE_RUN_ROOM_H

#include "store/engine/core/state.h"

/*
 * 0 if there is room for batch in the log and, held, for the flush of what is
 * in memtables with it; or -ENOSPC, or the volume's error. Mostly it looks at
 * some numbers; but when space is short it flushes, which takes long. Needs
 * commit, and no lock that comes after it.
 */
int engine_log_room(struct engine *e, const struct batch *batch);

/* If the disk is full, or nearly so, the background is to look for what it can
 * give back. Any thread. */
void engine_room_look(struct engine *e);

/* To be called now and then: on a disk that is nearly full the background gives
 * back what was deleted, though no write is refused any more. Any thread, with
 * no lock. */
void engine_room_tick(struct engine *e);

/* Whether batch holds nothing but deletions and changes to the schema, which is
 * table 0: dropping a table or a stricter policy is such a change. */
bool engine_frees_space(const struct batch *batch);

#endif
