#ifndef STORE_ENGINE_RUN_ROOM_H
#define STORE_ENGINE_RUN_ROOM_H

#include "store/engine/core/state.h"

/*
 * 0 if the volume has room for batch in the log, or -ENOSPC, or the volume's
 * error when it is asked; see room.c for what has to stay free. Mostly it looks
 * at two numbers; but when space is short it flushes, which takes long. Needs
 * commit, and no lock that comes after it.
 */
int engine_log_room(struct engine *e, const struct batch *batch);

#endif
