#include <stdlib.h>

#include "store/base/err.h"
#include "store/select_scan.h"
#include "store/store.h"

/* Of the selection's spans the present one has a scan. */
struct select_scan {
	struct store *store;
	const struct select *select;
	const struct snapshot *snapshot; /* NULL: there is but one scan */
	struct snapshot *own;            /* owned, or NULL */
	struct scan_range how; /* its table by its id: others may get the name
				  from one scan to the next */
	struct buf from;       /* rows start, in reverse end here; empty: all */
	struct scan *scan;     /* of the present span; NULL: of none */
	size_t begun;          /* spans that had a scan, or lie before from */
	struct buf row;        /* of the cell given last */
	uint64_t row_count;    /* rows with a cell that was given */
	bool limited, ended; /* there is no more to give, by the limit or so */
	int error;           /* that ended it */
};

/* Whether a span has one row only, whose key it starts with. */
static bool is_row(const struct select_span *span)
{
	return span->start.size > 0 && span->end.size == span->start.size + 1 &&
	       span->end.data[span->start.size] == 0 &&
	       bytes_starts_with(buf_bytes(&span->end),
				 buf_bytes(&span->start));
}

/* The next span in order. */
static const struct select_span *next_span(const struct select_scan *w)
{
	const struct select *s = w->select;

	assert(w->begun < s->count);
	return &s->spans[s->reverse ? s->count - 1 - w->begun : w->begun];
}

/* Starts at row: passes over the spans that lie before it. No key lies between
 * one and the same with a zero byte behind it. */
static int start_at(struct select_scan *w, struct bytes row)
{
	bool reverse = w->select->reverse;
	const struct select_span *span;
	int err = buf_set(&w->from, row);

	if (!err && reverse)
		err = buf_add_byte(&w->from, 0);
	for (; !err && w->begun < w->select->count; w->begun++) {
		span = next_span(w);
		if (reverse ? bytes_compare(buf_bytes(&span->start),
					    buf_bytes(&w->from)) < 0
			    : span->end.size == 0 ||
				      bytes_compare(buf_bytes(&span->end),
						    buf_bytes(&w->from)) > 0)
			break;
	}
	return err;
}

/* Leaves of a span's range what start_at does: the span may begin before. */
static void narrow(const struct select_scan *w, struct scan_range *range)
{
	struct bytes from = buf_bytes(&w->from);

	if (from.size == 0)
		return;
	if (!w->select->reverse) {
		if (bytes_compare(range->start, from) < 0)
			range->start = from;
	} else if (range->end.size == 0 ||
		   bytes_compare(range->end, from) > 0) {
		range->end = from;
	}
}

/* Sets what of range says the rows to those of span. */
static void set_rows(const struct select_span *span, struct scan_range *range)
{
	range->start = range->end = range->row = BYTES_NONE;
	if (is_row(span)) {
		range->row = buf_bytes(&span->start);
	} else {
		range->start = buf_bytes(&span->start);
		range->end = buf_bytes(&span->end);
	}
}

/* Opens the scan of the next span in order. */
static int begin_span(struct select_scan *w)
{
	struct scan_range range = w->how;
	int err;

	assert(!w->scan);
	set_rows(next_span(w), &range);
	if (range.row.size == 0)
		narrow(w, &range);
	err = scan_open(w->store, w->snapshot, &range, &w->scan);
	w->begun += !err;
	return err;
}

/* Nothing is to come: only the table is looked up, by a scan before all keys,
 * as none is empty. */
static int look_up(struct select_scan *w)
{
	struct scan_range range = { .table = w->how.table,
				    .table_id = w->how.table_id,
				    .end = BYTES_LITERAL("\0") };

	w->ended = true;
	return scan_open(w->store, w->snapshot, &range, &w->scan);
}

/* From *row on, unless row is NULL. */
static int open_from(struct store *s, const struct snapshot *snapshot,
		     struct select *select, const struct scan_range *how,
		     const struct bytes *row, struct select_scan **out)
{
	struct select_scan *w = calloc(1, sizeof(*w));
	int err;

	*out = NULL;
	if (!w)
		return -ENOMEM;
	w->store = s;
	w->select = select;
	w->snapshot = snapshot;
	w->how = *how;
	err = select_settle(select);
	w->how.reverse = select->reverse;
	w->how.filter = select->filter_count ? select->filters[0] : NULL;
	/* Of who wants rows, no value is looked at. */
	w->how.keep_large |= how->rows_only;
	w->how.rows_only &= !w->how.filter;
	w->how.pause = NULL;
	if (!err && !snapshot && select->count > 1) {
		err = store_snapshot(s, &w->own);
		w->snapshot = w->own;
	}
	if (!err && w->how.table_id == 0)
		w->how.table_id = store_table_id(s, w->snapshot, how->table);
	if (!err && row)
		err = start_at(w, *row);
	if (!err)
		err = select_is_empty(select) || w->begun == select->count
			      ? look_up(w)
			      : begin_span(w);
	if (err < 0) {
		select_close(w);
		return err;
	}
	w->how.table = BYTES_NONE;
	*out = w;
	return 0;
}

int select_open(struct store *s, const struct snapshot *snapshot,
		struct select *select, const struct scan_range *how,
		struct select_scan **out)
{
	return open_from(s, snapshot, select, how, NULL, out);
}

int select_open_at(struct store *s, const struct snapshot *snapshot,
		   struct select *select, const struct scan_range *how,
		   struct bytes row, struct select_scan **out)
{
	return open_from(s, snapshot, select, how, &row, out);
}

void select_close(struct select_scan *w)
{
	if (!w)
		return;
	scan_close(w->scan);
	store_snapshot_release(w->store, w->own);
	buf_release(&w->from);
	buf_release(&w->row);
	free(w);
}

/* The next cell of any span. A reverse scan ends with each row, but for
 * CURSOR_ROW, whose end is that of the span. */
static int step_on(struct select_scan *w, enum cursor_step step,
		   struct cell *cell)
{
	int err;

	for (;;) {
		err = scan_next(w->scan, step, cell);
		if (err != 0)
			return err;
		if (w->select->reverse && step != CURSOR_ROW) {
			step = CURSOR_ROW;
			continue;
		}
		if (w->begun == w->select->count)
			return 0;
		scan_close(w->scan);
		w->scan = NULL;
		err = begin_span(w);
		if (err < 0)
			return err;
	}
}

/* Ends a step: counts rows, and remembers what ended them. The limit is known
 * to be one by the first cell of one row more. */
static int settle(struct select_scan *w, int result, const struct cell *cell)
{
	if (result == 1 && (w->row_count == 0 ||
			    !bytes_equal(cell->row, buf_bytes(&w->row)))) {
		w->limited = w->row_count == w->select->row_limit;
		if (w->limited)
			result = 0;
		else if (buf_set(&w->row, cell->row) < 0)
			result = -ENOMEM;
		else
			w->row_count++;
	}
	w->ended = result <= 0;
	w->error = result < 0 ? result : 0;
	return result;
}

int select_next(struct select_scan *w, enum cursor_step step, struct cell *cell)
{
	if (w->error || w->ended)
		return w->error;
	return settle(w, step_on(w, step, cell), cell);
}

int select_seek(struct select_scan *w, struct bytes row, struct cell *cell)
{
	assert(w->select->count <= 1);
	if (w->error || w->ended)
		return w->error;
	return settle(w, scan_seek(w->scan, row, cell), cell);
}

void select_rest(struct select_scan *w)
{
	if (w->scan)
		scan_rest(w->scan);
}

bool select_was_limited(const struct select_scan *w)
{
	return w->limited;
}

uint64_t select_row_count(const struct select_scan *w)
{
	return w->row_count;
}

struct bytes select_row(const struct select_scan *w)
{
	return buf_bytes(&w->row);
}

struct scan *select_source(struct select_scan *w)
{
	return w->scan;
}

int select_any(struct store *s, struct select *select,
	       const struct scan_range *how)
{
	struct select_scan *w;
	struct cell cell;
	int err = select_open(s, NULL, select, how, &w);

	if (!err)
		err = select_next(w, CURSOR_ROW, &cell);
	select_close(w);
	return err;
}

int select_plan(struct store *s, struct select *select,
		const struct scan_range *how, size_t max,
		int (*each)(void *context, struct bytes start, struct bytes end,
			    const struct scan_plan *plan),
		void *context)
{
	struct scan_range range = *how;
	struct scan_plan plan;
	size_t i;
	int err = select_settle(select);

	range.filter = select->filter_count ? select->filters[0] : NULL;
	range.reverse = select->reverse;
	for (i = 0; !err && i < select->count && i < max; i++) {
		const struct select_span *span =
			&select->spans[select->reverse ? select->count - 1 - i
						       : i];

		set_rows(span, &range);
		err = scan_plan(s, &range, &plan);
		if (!err)
			err = each(context, buf_bytes(&span->start),
				   buf_bytes(&span->end), &plan);
	}
	return err;
}
