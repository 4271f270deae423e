#ifndef STORE_TEXT_PRINT_PRINT_CBT_H
#define STORE_TEXT_PRINT_PRINT_CBT_H

#include "store/text/print/print_state.h"

/* Appends a cell in the layout of cbt read; same is how far the cell before
 * agrees with it. 0, -ENOMEM or -ERR_bad_timestamp. */
int print_cbt_cell(struct printer *p, const struct cell *cell,
		   enum print_same same, struct buf *out);

#endif
