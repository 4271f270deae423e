#ifndef STORE_BULK_LOAD_H
#define STORE_BULK_LOAD_H

#include "store/write.h"

/*
 * A bulk load: writes that only set cells, of any rows, built into ssts beside
 * the log. Nothing of it is seen before it is published, then all of it,
 * durably and as if written at that moment. Of several cells of one version the
 * one added last stays. For much data: it costs a few syncs, and of memory what
 * open loads share (MEMORY_IMPORTS), as much as a memtable at most. One thread
 * at a time uses it.
 */
struct bulk_load;

int store_bulk_begin(struct store *s, struct bulk_load **out);

/* Takes what w has collected and empties it: 1; or 0, and w is as it was, if
 * not all of it sets cells. Errors as those of store_commit, after which part
 * of w may be in the load. */
int store_bulk_add(struct bulk_load *load, struct write *w);

/* Shows all that was added. -ERR_no_table, -ERR_no_family if a table or family
 * that there was at the first add was dropped meanwhile; then nothing of it is
 * written. After success the load is empty and may go on. */
int store_bulk_publish(struct bulk_load *load);

/* What was not published is gone. NULL is allowed. */
void store_bulk_free(struct bulk_load *load);

#endif
