#ifndef STORE_SCAN_H
#define STORE_SCAN_H

#include "store/cell.h"
#include "store/filter.h"

/*
 * Reads: scans over many rows, and calls for one column or row. All take a
 * snapshot, see store.h, or NULL for the present, and fail with -ERR_no_table.
 * A row, family or qualifier that cannot be there, because it is too long or
 * the family is unknown, is no error: nothing is found. One thread at a time
 * uses a scan.
 */
struct store;
struct snapshot;
struct large;
struct regex_watch;
struct scan;

/* How many cells a scan passes before it asks stop again. */
#define STORE_STOP_CELLS 1024

/*
 * What to scan: the rows start <= key < end (empty: open), or, if row is not
 * empty, only that row, of it only one family if has_family, and of that only
 * one column if has_qualifier.
 */
struct scan_range {
	struct bytes table; /* as store_table_id finds it */
	uint32_t table_id;  /* not 0: that table, whatever its name is or was */
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
	 * With newer data apart from older, this saves reading the latter. A
	 * reverse scan gives them all. */
	uint64_t since_us;
	/* If not 0, versions with a greater timestamp are not wanted; some may
	 * be given. Where the family's rule does not count versions, it costs
	 * nothing how many there are. A reverse scan gives them all. */
	uint64_t until_us;
	/* Rows are all that is wanted: every step is CURSOR_ROW, and of a cell
	 * only row is good for anything. */
	bool rows_only;
	/* If not NULL, asked every STORE_STOP_CELLS cells that the scan passes,
	 * those that it does not give included, and before each chunk of a
	 * large value; once it is true, the scan ends with -EINTR. */
	bool (*stop)(void);
	/* If not NULL, asked as often as stop, and within what the filter does
	 * with a cell; once it is true, scan_next or scan_seek returns -EAGAIN.
	 * Not if rows are all that is wanted and there is no filter. */
	bool (*pause)(void);
	/* If not NULL, watches over the filter's work; without one stop and
	 * pause are asked during that. */
	struct regex_watch *watch;
	/* Large values are not read: of such a cell value is empty, and
	 * cell_size and scan_open_large tell of it. */
	bool keep_large;
	/* If not NULL, asked before a large value is brought into memory, be it
	 * to be given or for the filter: whether the scan may have so many
	 * bytes for values, in all; it has one at a time. If not, scan_next or
	 * scan_seek returns -EAGAIN, and the next scan_next asks again. Without
	 * it what the scan has counts as MEMORY_VALUES, in any case. */
	bool (*room)(uint64_t size);
};

/* range is borrowed for the call, but for its filter. */
int scan_open(struct store *s, const struct snapshot *snapshot,
	      const struct scan_range *range, struct scan **out);

/*
 * How a scan of range would be read now, by what the files tell of themselves.
 * The filter's bytes are borrowed from it.
 */
struct scan_plan {
	size_t memtables; /* with anything in them, which are all asked */
	size_t all_ssts;  /* of the store */
	size_t ssts;      /* whose keys lie in the range; of these */
	size_t excluded;  /* whose filters say that they have no such row */
	size_t too_old;   /* that have only older versions than are wanted */
	/* About how much of the others' data lies in the range. */
	uint64_t blocks, bytes;

	/* What of the filter is used to leave out the rest beforehand. */
	struct bytes row_head; /* rows whose keys begin so; empty: any */
	bool row_is_head;      /* the row with that key alone */
	bool has_family, has_qualifier;
	struct bytes family, qualifier;
	uint64_t since_us; /* no smaller timestamps */
};

/* 0, -ERR_no_table, or an error of reading an index. */
int scan_plan(struct store *s, const struct scan_range *range,
	      struct scan_plan *out);

/* NULL is allowed. */
void scan_close(struct scan *scan);

/* Whether a scan of range would give a cell, now: 1, 0 or an error. */
int scan_any(struct store *s, const struct scan_range *range);

/*
 * Between two calls, if the next may not come soon: what the scan reads from is
 * taken from it if others need the memory, and the next call goes on at its
 * place, at the same moment. For a scan of a snapshot, which must outlive it;
 * any other is left as it is. Of the cell given last the names stay until the
 * next call; value and blob end. What is left of a table or family that is
 * dropped meanwhile may be left out.
 */
void scan_rest(struct scan *scan);

/*
 * 1 with *cell, which is good until the next call on scan, 0 at the end,
 * negative on error; then only scan_close is allowed. The first call gives the
 * first cell, whatever the step. In a reverse scan only CURSOR_ROW moves to
 * another row; the other steps end (0) with the row, and scan_next(CURSOR_ROW)
 * goes on.
 */
int scan_next(struct scan *scan, enum cursor_step step, struct cell *cell);

/*
 * Both may also return -EAGAIN, where pause or room say so: the scan has come
 * so far, past cells that it does not give, and the next scan_next, with
 * whatever step, goes on from there with what was begun. Each of pause comes
 * further, so it ends: by STORE_STOP_CELLS cells, or by some of what the filter
 * does with one. Inside a row that a condition of the filter decides about,
 * only cells that it is shown count, and backwards nothing pauses in one that
 * has no cell.
 *
 * scan_position, after -EAGAIN only: the row that it came to, of which some may
 * be left; all rows before it in the scan's order are done. Empty: it has not
 * come to any. 0 or -ENOMEM; *row is valid until the next call on scan.
 */
int scan_position(struct scan *scan, struct bytes *row);

/* Continues with the first row at or after (reverse: at or before) row. Returns
 * what scan_next does. */
int scan_seek(struct scan *scan, struct bytes row, struct cell *cell);

/* The bytes of memory that the scan has for a large value now. */
size_t scan_value_memory(const struct scan *scan);

/* What a filter labelled the cell given last; mostly empty. Lives as long as
 * the filter. */
struct bytes scan_label(const struct scan *scan);

/* Appends the value of the cell given last, large or not. */
int scan_load(struct scan *scan, const struct cell *cell, struct buf *out);

/* The value of the cell given last, which has a blob; *out is to be put.
 * -ESTALE: it has been collected since the scan began; scan_load can read it
 * still. */
int scan_open_large(struct scan *scan, const struct cell *cell,
		    struct large **out);

/* The newest version of a column: 1 with *cell, 0 if there is none. The cell's
 * value lies in memory, whose content it replaces and which the caller releases
 * in every case; its names are the arguments. */
int store_get(struct store *s, const struct snapshot *snapshot,
	      struct bytes table, struct bytes row, struct bytes family,
	      struct bytes qualifier, struct cell *cell, struct buf *memory);

/* As store_get, but a large value is not read: *large is it, to be put, and
 * cell->value empty. Else *large is NULL. */
int store_get_large(struct store *s, const struct snapshot *snapshot,
		    struct bytes table, struct bytes row, struct bytes family,
		    struct bytes qualifier, struct cell *cell,
		    struct buf *memory, struct large **large);

/* Whether the row has any cell at present: 1, 0 or an error. */
int store_row_exists(struct store *s, struct bytes table, struct bytes row);

#endif
