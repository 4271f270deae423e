#ifndef STORE_BULK_LOAD_H
#define STORE_BULK_LOAD_H

#include "store/write.h"

/*
 * A bulk load: writes that only set cells, of any rows, built into ssts beside
 * the log. Nothing of it is seen before it is published, then all of it,
 * durably and as if written at that moment. For much data: it costs a few
 * syncs, and as much memory as a memtable and half.
 */
struct bulk_load;

int store_bulk_begin(struct store *s, struct bulk_load **out);
/* Takes what w has collected and empties it: 1; or 0, and w is as it was, if
 * not all of it sets cells. Errors as those of store_commit. */
int store_bulk_add(struct bulk_load *load, struct write *w);
/* -ERR_no_table, -ERR_no_family if something it needs was dropped meanwhile;
 * then nothing of it is written. After success it is empty and may go on. */
int store_bulk_publish(struct bulk_load *load);
/* What was not published is gone. */
void store_bulk_free(struct bulk_load *load);

#endif
