#ifndef STORE_TEXT_VALUE_DURATION_H
#define STORE_TEXT_VALUE_DURATION_H

#include "store/store.h"

/* "30d", "1h", "500ms": one unit of us ms s m h d; -ERR_bad_gc_policy, with
 * cbt's words. Result in microseconds. */
int duration_parse(struct bytes text, uint64_t *us);

/* As duration_parse takes it, in the largest unit that divides it: "10d",
 * "90m", "500ms". */
int duration_print(uint64_t us, struct buf *out);

#endif
