#include <assert.h>
#include <errno.h>

#include "fs/cells/loop.h"
#include "fs/query/query_run.h"
#include "store/text/filter/filter_text.h"

/*
 * Who decides what passes. Without patterns, families and times are compared
 * here, cell by cell, so that a cell that fails tells how far to skip: to the
 * next version, column, family or row. With a pattern all conditions go into
 * one filter of the store's, which then gives only what passes. Segments skip
 * by row keys and never see cells that fail, so they need the filter for every
 * condition.
 *
 * A query of rows whose conditions are about row keys alone asks the scan for
 * rows only, which then reads no cells.
 */

/* One for each condition below, see make_parts. */
#define PARTS_MAX 7

/* Whether only some cells of a row pass, so that cells must be read to know
 * whether the row does. */
static bool chooses_cells(const struct query *q)
{
	return q->has_family || q->since_us > 0 || q->until_us < UINT64_MAX ||
	       q->has_column || q->has_value || q->has_expression;
}

/* Whether the store's filter decides, and not passes(). */
static bool needs_filter(const struct query *q)
{
	return q->has_regex || q->has_column || q->has_value ||
	       q->has_expression ||
	       (q->form == QUERY_SEGMENTS && chooses_cells(q));
}

/*
 * Appends the filters of the steps to parts, which has room for PARTS_MAX, and
 * counts them, also one that could not be made, which is NULL. They are chained
 * in this order: the expression sees what families, columns and times leave,
 * versions are counted of what it leaves, and value is about these.
 */
static int make_parts(const struct query *q, struct filter **parts,
		      size_t *count)
{
	const struct filter_range all = { .has_start = false };
	/* To a filter, 0 is no end. A query until 0 ended before this. */
	uint64_t until = q->until_us < UINT64_MAX ? q->until_us : 0;
	int err = 0;

	if (q->has_regex)
		err = filter_new_row(q->regex, &parts[(*count)++]);
	if (!err && q->has_family)
		err = filter_new_columns(q->family, &all, &parts[(*count)++]);
	if (!err && q->has_column)
		err = filter_new_qualifier(q->column_regex, &parts[(*count)++]);
	if (!err && (q->since_us > 0 || until > 0))
		err = filter_new_timestamps(q->since_us, until,
					    &parts[(*count)++]);
	if (!err && q->has_expression)
		err = filter_parse(q->expression, &parts[(*count)++]);
	if (!err && q->version_limit < UINT64_MAX)
		err = filter_new_column_limit((int64_t)q->version_limit,
					      &parts[(*count)++]);
	if (!err && q->has_value)
		err = filter_new_value(q->value, &parts[(*count)++]);
	return err;
}

/* Sets q->filter, which must be NULL. */
static int make_filter(struct query *q)
{
	struct filter *parts[PARTS_MAX] = { NULL };
	size_t count = 0;
	int err = make_parts(q, parts, &count);

	assert(!q->filter && count > 0 && count <= PARTS_MAX);
	/* A chain owns its parts, also if it could not be made. */
	if (!err && count > 1)
		return filter_new_chain(parts, count, &q->filter);
	if (!err) {
		q->filter = parts[0];
		return 0;
	}
	while (count > 0)
		filter_free(parts[--count]);
	return err;
}

/* Opens the scan, from its start. */
static int open_scan(struct fs *fs, struct query *q, struct scan_range *range)
{
	struct place place;
	int err = place_enter(fs, q->node, &place);

	range->table = place.path.table;
	if (!err)
		err = scan_open(fs->store, q->snapshot, range, &q->scan);
	place_leave(fs, &place);
	return err;
}

int query_rewind(struct fs *fs, struct query *q)
{
	struct scan_range range = {
		.start = q->start,
		.end = q->end,
		.reverse = q->reverse,
		.since_us = q->since_us,
		.stop = loop_is_interrupted,
		.keep_large = true,
	};

	if (q->scan)
		scan_close(q->scan);
	q->scan = NULL;
	q->error = 0;
	q->row_count = 0;
	q->is_in_row = false;
	q->has_segment = false;
	q->step = CURSOR_ROW;
	/* A range, of rows or times, that ends before it starts is empty. No
	 * scan is opened for it. */
	q->ended = q->row_limit == 0 || q->since_us >= q->until_us ||
		   (q->end.size > 0 && bytes_compare(q->start, q->end) >= 0);
	if (!q->ended && !q->filter && needs_filter(q)) {
		q->error = make_filter(q);
		if (q->error)
			return q->error;
	}
	range.filter = q->filter;
	range.rows_only = q->form != QUERY_CELLS && !chooses_cells(q);
	q->rows_only = range.rows_only;
	if (!q->ended)
		q->error = open_scan(fs, q, &range);
	return q->error;
}

void query_rest(struct query *q)
{
	if (q->scan)
		scan_rest(q->scan);
}

/* Makes row and column those of cell; row_passed and version_count begin anew
 * where row or column changes. 0 or -ENOMEM. */
static int enter_cell(struct query *q, const struct cell *cell)
{
	int err;

	if (!q->is_in_row || !bytes_equal(cell->row, buf_bytes(&q->row))) {
		err = buf_set(&q->row, cell->row);
		if (err)
			return err;
		q->is_in_row = true;
		q->row_passed = false;
		q->family_size = SIZE_MAX;
	}
	if (q->rows_only)
		return 0;
	if (q->family_size == cell->family.size &&
	    q->column.size == cell->family.size + cell->qualifier.size &&
	    bytes_starts_with(buf_bytes(&q->column), cell->family) &&
	    bytes_equal(bytes_after(buf_bytes(&q->column), q->family_size),
			cell->qualifier))
		return 0;
	q->version_count = 0;
	q->family_size = cell->family.size;
	err = buf_set(&q->column, cell->family);
	return err ? err : buf_add_bytes(&q->column, cell->qualifier);
}

/* Whether cell passes; if not, q->step is set to what skips most. */
static bool passes(struct query *q, const struct cell *cell)
{
	int order;

	/* The scan gives nothing else then. */
	if (q->filter || q->rows_only)
		return true;
	order = q->has_family ? bytes_compare(cell->family, q->family) : 0;
	/* Families ascend in a row: past the wanted one nothing comes. */
	if (order) {
		q->step = order < 0 ? CURSOR_FAMILY : CURSOR_ROW;
		return false;
	}
	/* Versions descend in time: after one that is too new an older may
	 * pass, after one that is too old none of the column. */
	if (cell->timestamp_us >= q->until_us) {
		q->step = CURSOR_VERSION;
		return false;
	}
	if (cell->timestamp_us < q->since_us) {
		q->step = CURSOR_COLUMN;
		return false;
	}
	return true;
}

int query_next(struct query *q, struct cell *cell)
{
	int err;

	if (q->error)
		return q->error;
	while (!q->ended) {
		err = scan_next(q->scan, q->step, cell);
		/* In reverse the smaller steps end with the row. */
		if (err == 0 && q->reverse && q->step != CURSOR_ROW) {
			q->step = CURSOR_ROW;
			continue;
		}
		if (err == 1)
			err = enter_cell(q, cell) ? -ENOMEM : 1;
		if (err < 0)
			return q->error = err;
		if (err == 0)
			break;
		if (!passes(q, cell))
			continue;
		/* The limit is of rows that pass, so its end shows with the
		 * first cell of one more. */
		if (!q->row_passed && q->row_count++ == q->row_limit)
			break;
		q->row_passed = true;
		q->step = ++q->version_count >= q->version_limit
				  ? CURSOR_COLUMN
				  : CURSOR_VERSION;
		return 1;
	}
	q->ended = true;
	return 0;
}

int query_next_row(struct query *q, struct cell *cell)
{
	assert(q->form != QUERY_CELLS);
	if (q->is_in_row || q->rows_only)
		q->step = CURSOR_ROW;
	return query_next(q, cell);
}

/* The segment of a row's key, which begins with the prefix: borrowed from
 * it. */
static struct bytes segment_of(const struct query *q, struct bytes row)
{
	struct bytes rest = bytes_after(row, q->prefix.size);
	const uint8_t *at = NULL;

	if (rest.size > 0)
		at = memmem(rest.data, rest.size, q->delimiter.data,
			    q->delimiter.size);
	return at ? bytes_of(rest.data,
			     (size_t)(at - rest.data) + q->delimiter.size)
		  : rest;
}

bool query_is_row(const struct query *q, struct bytes segment)
{
	assert(q->delimiter.size > 0);
	return segment.size < q->delimiter.size ||
	       !bytes_equal(
		       bytes_after(segment, segment.size - q->delimiter.size),
		       q->delimiter);
}

bool query_pass_prefix(struct buf *prefix)
{
	/* No byte follows ff, so the byte before it is raised. */
	while (prefix->size > 0 && prefix->data[prefix->size - 1] == 0xff)
		prefix->size--;
	if (prefix->size > 0)
		prefix->data[prefix->size - 1]++;
	return prefix->size > 0;
}

/*
 * The first row past those with the present segment, sought by key: however
 * many rows a segment has, it costs one seek. As scan_next. In reverse the seek
 * goes to or before the segment's start, so the row whose key is just that may
 * come again, which query_next_segment steps over.
 */
static int skip_segment(struct query *q, struct cell *cell)
{
	int err;

	assert(q->has_segment);
	if (query_is_row(q, bytes_after(buf_bytes(&q->row), q->prefix.size)))
		return scan_next(q->scan, CURSOR_ROW, cell);
	if (q->reverse)
		return scan_seek(q->scan, buf_bytes(&q->row), cell);
	err = buf_set(&q->column, buf_bytes(&q->row));
	if (err)
		return err;
	/* If no key can follow, this was the last segment. */
	return query_pass_prefix(&q->column)
		       ? scan_seek(q->scan, buf_bytes(&q->column), cell)
		       : 0;
}

/* Cells are not looked at one by one: what the scan gives has passed. So row is
 * free to hold prefix and segment of what was given last, and column to build
 * the key that is sought. */
int query_next_segment(struct query *q, struct cell *cell,
		       struct bytes *segment)
{
	int err = q->error;

	assert(q->form == QUERY_SEGMENTS);
	if (err || q->ended || q->row_count == q->row_limit)
		return err;
	err = q->has_segment ? skip_segment(q, cell)
			     : scan_next(q->scan, CURSOR_ROW, cell);
	while (err == 1 && q->has_segment &&
	       bytes_starts_with(cell->row, buf_bytes(&q->row)) &&
	       !query_is_row(q,
			     bytes_after(buf_bytes(&q->row), q->prefix.size)))
		err = scan_next(q->scan, CURSOR_ROW, cell);
	if (err < 0)
		return q->error = err;
	if (err == 0) {
		q->ended = true;
		return 0;
	}
	*segment = segment_of(q, cell->row);
	err = buf_set(&q->row,
		      bytes_of(cell->row.data, q->prefix.size + segment->size));
	if (err)
		return q->error = err;
	q->has_segment = true;
	q->row_count++;
	/* Borrowed from row, which outlives the cell's key. */
	*segment = bytes_after(buf_bytes(&q->row), q->prefix.size);
	return 1;
}
