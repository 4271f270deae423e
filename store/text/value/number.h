#ifndef STORE_TEXT_VALUE_NUMBER_H
#define STORE_TEXT_VALUE_NUMBER_H

#include "store/store.h"

/* Go's strconv.ParseInt(text, 0, 64): 0x3e8, 0777, 1_000_000, -1. */
bool int_parse_go(struct bytes text, int64_t *out);

/* The number that an aggregate cell holds, in decimal; see aggregate.h. */
int aggregate_print(const struct cell *cell, struct buf *out);

/* v in decimal, with zeros in front up to digits; printf would take half of the
 * printers' time. */
int print_u64(uint64_t v, unsigned int digits, struct buf *out);

#endif
