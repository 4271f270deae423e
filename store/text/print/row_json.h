#ifndef STORE_TEXT_PRINT_ROW_JSON_H
#define STORE_TEXT_PRINT_ROW_JSON_H

#include "store/store.h"

/* Appends what scan has still to give as JSON lines, one for each row, newest
 * versions only or all of them; nothing if that is no cell. For a scan of one
 * row, whose line is held in memory. 0, or an error of the scan, or -ENOMEM. */
int row_print_json(struct scan *scan, bool all_versions, struct buf *out);

#endif
