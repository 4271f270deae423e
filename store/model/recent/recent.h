#ifndef STORE_MODEL_RECENT_RECENT_H
#define STORE_MODEL_RECENT_RECENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "store/base/bytes.h"

/*
 * When rows of tables in microseconds were changed last, for who stamps what is
 * set there in whole milliseconds: those lie before a change of the same
 * millisecond, which would hide what comes after it. By a hash of the row's
 * key: of two rows with the same one each counts for both. Nothing is noted
 * before anybody asked. Zeroed, it is empty; any thread, without a lock.
 */
#define RECENT_SLOTS 1024

struct recent {
	atomic_bool wanted;
	_Atomic uint64_t times_us[RECENT_SLOTS];
};

/* The row with this key is changed at now_us, by the clock. */
void recent_note(struct recent *r, struct bytes row, uint64_t now_us);

/* No change of the row that has been answered is later. now_us, if nothing has
 * been noted so far. */
uint64_t recent_get(struct recent *r, struct bytes row, uint64_t now_us);

#endif
