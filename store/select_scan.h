#ifndef STORE_SELECT_SCAN_H
#define STORE_SELECT_SCAN_H

#include "store/scan.h"
#include "store/select.h"

/*
 * Reading what a selection says: a scan of each of its ranges after another, so
 * that what lies between them costs nothing and a single key asks the filters
 * of files. All are of one moment. One thread at a time uses one, and nobody
 * else the selection meanwhile, which must outlive it.
 */
struct select_scan;

/*
 * how says the table and how to read: stop, watch, rows_only, which takes
 * effect if the selection has no filter, and keep_large; the rest of it is the
 * selection's. The table is looked up now, also if no row can come. For each
 * range it is the same again, whatever its name is by then: -ESTALE if it was
 * dropped. Errors of scan_open and select_settle.
 */
int select_open(struct store *s, const struct snapshot *snapshot,
		struct select *select, const struct scan_range *how,
		struct select_scan **out);

/* The same from row on: its first row is the first that is selected at or after
 * (reverse: at or before) row, and the limit counts from there. */
int select_open_at(struct store *s, const struct snapshot *snapshot,
		   struct select *select, const struct scan_range *how,
		   struct bytes row, struct select_scan **out);

/* As scan_plan, of each range of rows in order, max at most: calls each with
 * its bounds, either empty if open, which for a single row are its key and the
 * next one. select is settled then. 0, what each returns if it is not 0, or an
 * error. */
int select_plan(struct store *s, struct select *select,
		const struct scan_range *how, size_t max,
		int (*each)(void *context, struct bytes start, struct bytes end,
			    const struct scan_plan *plan),
		void *context);

/* NULL is allowed. */
void select_close(struct select_scan *scan);

/*
 * The next cell, after skipping at least what step does: 1, 0 at the end or
 * behind the limit of rows, or an error, which stays. Unlike scan_next it goes
 * on to the next row in both orders.
 */
int select_next(struct select_scan *scan, enum cursor_step step,
		struct cell *cell);

/* Goes on with the first row at or after (reverse: at or before) row. Only for
 * a selection of one range. Returns what select_next does. */
int select_seek(struct select_scan *scan, struct bytes row, struct cell *cell);

/* As scan_rest. */
void select_rest(struct select_scan *scan);

/* Whether the limit of rows was reached and there is a row more. */
bool select_was_limited(const struct select_scan *scan);

/* How many rows a cell was given of; the row of the cell given last, until the
 * next call, empty before the first. */
uint64_t select_row_count(const struct select_scan *scan);
struct bytes select_row(const struct select_scan *scan);

/* What gave the cell that was given last, for scan_label, scan_load and
 * scan_open_large; good until the next call. */
struct scan *select_source(struct select_scan *scan);

/* Whether a cell is selected: 1, 0 or an error. */
int select_any(struct store *s, struct select *select,
	       const struct scan_range *how);

#endif
