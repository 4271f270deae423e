#ifndef STORE_TEXT_PRINT_PRINT_JSON_H
#define STORE_TEXT_PRINT_PRINT_JSON_H

#include "store/text/print/print_state.h"

/* Appends a cell to the JSON line of its row, once the line before is ended;
 * same is how far the cell before agrees with it. A column's first version
 * stays in p until the next cell. 0 or -ENOMEM. */
int print_json_cell(struct printer *p, const struct cell *cell,
		    enum print_same same, struct buf *out);

/* Appends what of a large value's version waited, which the next cell agrees
 * with as far as same. 0 or -ENOMEM. */
int print_json_begin(struct printer *p, enum print_same same, struct buf *out);

/* Ends the line of the last row; there must have been a cell. 0 or -ENOMEM. */
int print_json_finish(struct printer *p, struct buf *out);

#endif
