#ifndef STORE_ENGINE_REPAIR_REPAIR_FIND_H
#define STORE_ENGINE_REPAIR_REPAIR_FIND_H

#include "store/engine/repair/repair.h"
#include "store/engine/repair/repair_state.h"

/* 0 if there is any file of a store, or -ERR_not_a_store. */
int engine_repairable(struct volume *from);

/* Finds what there is to be taken over. */
int repair_find(struct repair *r);

/* Tells of what the last error, err, took away. */
int repair_lose(struct repair *r, int err, struct bytes after,
		struct bytes before);

/* Of errors that are no damage. */
bool repair_is_final(int err);

#endif
