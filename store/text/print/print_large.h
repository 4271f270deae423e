#ifndef STORE_TEXT_PRINT_PRINT_LARGE_H
#define STORE_TEXT_PRINT_PRINT_LARGE_H

#include "store/text/print/print_state.h"

/* Large values, which printers read and print part by part. */

/* Reads the part of value at offset into *part, which points into memory; if
 * characters, one that more follows does not end within a character. 0 or an
 * error. */
int print_read(struct large *value, uint64_t offset, struct buf *memory,
	       bool characters, struct bytes *part);

/* The value of the present cell is large: the next calls print it by print, and
 * then tail, to which the caller appends. */
void print_later(struct printer *p,
		 int (*print)(struct bytes part, struct buf *out));

/* Whether all of the present cell's large value passes test, which sees it in
 * parts as print does: 1, 0 or an error. */
int print_test(struct printer *p, bool (*test)(struct bytes part));

#endif
