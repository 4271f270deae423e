#ifndef STORE_TEXT_PRINT_ROW_JSON_H
#define STORE_TEXT_PRINT_ROW_JSON_H

#include "store/store.h"

/* A whole row as one JSON line, newest versions only or all of them. */
int row_print_json(struct scan *scan, bool all_versions, struct buf *out);

#endif
