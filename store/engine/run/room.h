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

/* Holds room for the memtables that wait, for one with more bytes, and what is
 * always held. -ENOSPC if not all could be. Takes lock. */
int engine_hold_room(struct engine *e, uint64_t more);

/* Background work with nothing else to do: gives back room that is not needed,
 * and tries to hold what is missing. */
void engine_room_idle(struct engine *e);

/* Room in bytes that an sst needs of a memtable with so many. */
uint64_t engine_sst_room(uint64_t arena_size);

/* Bytes of a log that is begun on a full disk. */
uint64_t engine_log_piece(struct engine *e);

#endif
