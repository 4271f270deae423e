#ifndef STORE_TEXT_PRINT_PRINT_JSON_H
#define STORE_TEXT_PRINT_PRINT_JSON_H

#include "store/text/print/print_state.h"

int print_json_cell(struct printer *p, const struct cell *cell,
		    enum print_same same, struct buf *out);
int print_json_finish(struct printer *p, struct buf *out);

#endif
