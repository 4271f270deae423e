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

/* Whether batch holds nothing but deletions and changes to the schema, which is
 * table 0: dropping a table or a stricter policy is such a change. */
bool engine_frees_space(const struct batch *batch);

#endif
