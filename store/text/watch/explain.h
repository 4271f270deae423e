#ifndef STORE_TEXT_WATCH_EXPLAIN_H
#define STORE_TEXT_WATCH_EXPLAIN_H

#include "store/store.h"

/*
 * How a selection is read, and what that costs, in lines like those of the
 * event log: a word, then name=value pairs. Words and names stay what they are;
 * new ones are added at the end. Keys are quoted.
 *
 *   range   start end memtables ssts excluded too_old all_ssts blocks bytes:
 *           of each range of rows, EXPLAIN_RANGES at most; see scan_plan
 *   ranges  count: of all
 *   pushed  what of the filter leaves out beforehand: row or rows_begin,
 *           family, column, since; nothing if there is no such line
 *   cost    of having read all of it: rows cells bytes (of values, of which
 *           large ones are not read) passed (cells that were stepped over or
 *           to) files excluded blocks blocks_read bytes_read us
 */
#define EXPLAIN_RANGES 20

/* Appends that. how as for select_open; its table is the same for all of it
 * only as long as nobody renames it. 0, or an error of reading, also -EINTR of
 * how->stop. */
int explain_print(struct store *s, const struct snapshot *snapshot,
		  struct select *select, const struct scan_range *how,
		  struct buf *out);

#endif
