#ifndef STORE_ENGINE_REPAIR_SPANS_H
#define STORE_ENGINE_REPAIR_SPANS_H

#include <stdint.h>

#include "store/base/buf.h"

/* Sets of numbers as spans, ascending and apart; BUF_INIT is empty. */

/* Adds first to last, unless some of them are there: 1, then 0; or -ENOMEM. */
int spans_add(struct buf *spans, uint64_t first, uint64_t last);

#endif
