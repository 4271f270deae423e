#ifndef STORE_ENGINE_RUN_HOLD_H
#define STORE_ENGINE_RUN_HOLD_H

#include "store/engine/core/state.h"

/*
 * Room on the disk that is held, by calls of the volume.
 */

/* Holds room for the memtables that wait, for one with more bytes, and what is
 * always held. -ENOSPC if not all could be. Takes lock. */
int engine_hold_room(struct engine *e, uint64_t more);

/* As engine_hold_room for no memtable; but what a former life held stays, which
 * its memtables need when they are replayed. */
int engine_keep_room(struct engine *e);

/* Background work with nothing else to do: gives back room that is not needed,
 * and tries to hold what is missing. */
void engine_room_idle(struct engine *e);

/* Room in bytes that an sst needs of a memtable with so many. */
uint64_t engine_sst_room(uint64_t arena_size);

/* Bytes of a log that is begun on a full disk. */
uint64_t engine_log_piece(struct engine *e);

/* Bytes that a memtable may take if its sst is to fit a piece that is always
 * held. */
uint64_t engine_small_arena(struct engine *e);

#endif
