#ifndef STORE_ENGINE_RUN_ROOM_H
#define STORE_ENGINE_RUN_ROOM_H

#include "store/engine/core/state.h"

/* 0 if the volume has room for batch in the log, or -ENOSPC. Needs commit. */
int engine_log_room(struct engine *e, const struct batch *batch);

#endif
