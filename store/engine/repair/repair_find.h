#ifndef STORE_ENGINE_REPAIR_REPAIR_FIND_H
#define STORE_ENGINE_REPAIR_REPAIR_FIND_H

#include "store/engine/repair/repair_state.h"

/*
 * Which files of a damaged store a repair takes, and telling of what it cannot
 * take. One thread; only reads the damaged volume.
 */

/* 0 if there is any file of a store, be it the root alone, or
 * -ERR_not_a_store; or an error of listing. */
int engine_repairable(struct volume *from);

/*
 * Finds what there is to be taken over: fills r->found, with the levels that
 * count, r->epoch, and what r knows of sequences and logs; tells of what it
 * finds missing. 0, or an error that ends the repair; r->found is to be
 * released in every case.
 */
int repair_find(struct repair *r);

/* Counts and tells of what the error err, which must be the thread's last,
 * took away between these keys, as repair_report has them. 0, or a negative
 * result of tell, which ends the repair. */
int repair_lose(struct repair *r, int err, struct bytes after,
		struct bytes before);

/* Whether err, or 0, is no damage, but of this process or this program: then
 * another try may read what this one cannot, so the repair fails rather than
 * count it as lost. */
bool repair_is_final(int err);

#endif
