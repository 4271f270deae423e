#ifndef STORE_TEXT_PRINT_PRINT_H
#define STORE_TEXT_PRINT_PRINT_H

#include "store/store.h"
#include "store/text/value/text_format.h"

/*
 * Printers: each turns a stream of cells, in scan order, into text appended to
 * out. Feed every cell, then finish; the caller drains out between calls, so
 * memory does not grow with the stream.
 */
struct printer;

int printer_new(enum text_format format, struct printer **out);
void printer_free(struct printer *p);
int printer_cell(struct printer *p, const struct cell *cell, struct buf *out);

/* What a filter labelled the next cell, borrowed until that is fed; "" if
 * nothing, as mostly. Only the cbt layout and JSON lines show it. */
void printer_label(struct printer *p, struct bytes label);
int printer_finish(struct printer *p, struct buf *out);

#endif
