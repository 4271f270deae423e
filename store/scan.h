#ifndef STORE_SCAN_H
#define STORE_SCAN_H

#include "store/cell.h"
#include "store/filter.h"

struct store;
struct snapshot;
struct large;
struct scan;

/*
 * What to scan: the rows start <= key < end (empty: open), or, if row is not
 * empty, only that row, of it only one family if has_family, and of that only
 * one column if has_qualifier.
 */
#define STORE_STOP_CELLS 1024
struct scan_range {
	struct bytes table;
	struct bytes start, end;
	struct bytes row;
	bool has_family, has_qualifier;
	struct bytes family, qualifier;
	bool reverse; /* rows descend; cells inside a row do not */
	/* If not NULL, the scan gives what this lets pass; a row of which that
	 * is nothing is absent. It lives as long as the scan and is no other's.
	 * All steps are about what comes out of it, which may hold copies. */
	struct filter *filter;
	/* Versions with a smaller timestamp are not wanted; some may be given.
	 * With newer data apart from older, this saves reading the latter. */
	uint64_t since_us;
	/* Rows are all that is wanted: every step is CURSOR_ROW, and of a cell
	 * only row is good for anything. */
	bool rows_only;
	/* If not NULL, asked every STORE_STOP_CELLS cells that the scan passes,
	 * those that it does not give included; once it is true, the scan ends
	 * with -EINTR. */
	bool (*stop)(void);
	/* Large values are not read: of such a cell value is empty, and
	 * cell_size and scan_open_large tell of it. */
	bool keep_large;
};

/* -ERR_no_table; an unknown family is an empty scan. */
int scan_open(struct store *s, const struct snapshot *snapshot,
	      const struct scan_range *range, struct scan **out);
void scan_close(struct scan *scan);
/* As cursor_next: 1 with *cell, 0 at the end, negative on error. In a reverse
 * scan only CURSOR_ROW moves to another row; the other steps end (0) with the
 * row, and scan_next(CURSOR_ROW) goes on. */
int scan_next(struct scan *scan, enum cursor_step step, struct cell *cell);
/* What a filter labelled the cell given last; mostly empty. */
struct bytes scan_label(const struct scan *scan);
/* Continues with the first row at or after (reverse: at or before) row. */
int scan_seek(struct scan *scan, struct bytes row, struct cell *cell);

/* The newest version of a column: 1 with *cell, whose value lives in memory,
 * which the caller releases, and whose names are the arguments; 0 if there is
 * none. */
int store_get(struct store *s, const struct snapshot *snapshot,
	      struct bytes table, struct bytes row, struct bytes family,
	      struct bytes qualifier, struct cell *cell, struct buf *memory);

/* As store_get, but a large value is not read: *large is it, to be put, and
 * cell->value empty. Else *large is NULL. */
int store_get_large(struct store *s, const struct snapshot *snapshot,
		    struct bytes table, struct bytes row, struct bytes family,
		    struct bytes qualifier, struct cell *cell,
		    struct buf *memory, struct large **large);
/* Appends the value of the cell given last, large or not. */
int scan_load(struct scan *scan, const struct cell *cell, struct buf *out);
/* The value of the cell given last, which has a blob. -ESTALE: it has been
 * collected since the scan began. */
int scan_open_large(struct scan *scan, const struct cell *cell,
		    struct large **out);
/* Whether the row has any cell: 1, 0 or an error. */
int store_row_exists(struct store *s, struct bytes table, struct bytes row);

#endif
