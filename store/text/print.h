#ifndef STORE_TEXT_PRINT_H
#define STORE_TEXT_PRINT_H

#include "store/text.h"

int printer_new(enum text_format format, struct printer **out);
void printer_free(struct printer *p);
int printer_cell(struct printer *p, const struct cell *cell, struct buf *out);

/* What a filter labelled the next cell, borrowed until that is fed; "" if
 * nothing, as mostly. Only the cbt layout and JSON lines show it. */
void printer_label(struct printer *p, struct bytes label);
int printer_finish(struct printer *p, struct buf *out);

#endif
