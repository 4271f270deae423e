#ifndef STORE_TEXT_VALUE_DURATION_H
#define STORE_TEXT_VALUE_DURATION_H

#include "store/store.h"

/*
 * Lengths of time as cbt's garbage-collection policies have them: a whole
 * number and one unit of us ms s m h d, as in "30d", "1h", "500ms". A day is 24
 * hours. No sign, fraction, blank, nor a second unit.
 */

/* Sets *us to text's microseconds. -ERR_bad_gc_policy, with cbt's words; it
 * takes no more than Go's time.Duration does, 2^63 - 1 nanoseconds. */
int duration_parse(struct bytes text, uint64_t *us);

/* Appends us in the largest unit that divides it, so that duration_parse gives
 * the same: "10d", "90m", "500ms"; "0d" for 0. 0 or -ENOMEM. */
int duration_print(uint64_t us, struct buf *out);

#endif
