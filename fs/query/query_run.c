#include <assert.h>
#include <errno.h>

#include "fs/cells/loop.h"
#include "fs/query/query_run.h"

/* Opens the scan, from its start or, unless it is NULL, from row on, in the
 * table as it is called now. */
static int open_scan(struct fs *fs, struct query *q, const struct bytes *row)
{
	struct scan_range how = {
		.rows_only = q->form != QUERY_CELLS,
		.stop = q->stop ? q->stop : loop_is_interrupted,
		.keep_large = true,
	};
	struct place place;
	int err = place_enter(fs, q->node, &place);

	how.table = place.path.table;
	if (!err && row)
		err = select_open_at(fs->store, q->snapshot, &q->select, &how,
				     *row, &q->scan);
	else if (!err)
		err = select_open(fs->store, q->snapshot, &q->select, &how,
				  &q->scan);
	place_leave(fs, &place);
	return err;
}

static int rewind_to(struct fs *fs, struct query *q, const struct bytes *row)
{
	select_close(q->scan);
	q->scan = NULL;
	q->has_segment = false;
	q->segment_count = 0;
	return q->error = open_scan(fs, q, row);
}

int query_rewind(struct fs *fs, struct query *q)
{
	return rewind_to(fs, q, NULL);
}

int query_rewind_at(struct fs *fs, struct query *q, struct bytes row)
{
	return rewind_to(fs, q, &row);
}

void query_rest(struct query *q)
{
	if (q->scan)
		select_rest(q->scan);
}

int query_next(struct query *q, struct cell *cell)
{
	return q->error ? q->error : select_next(q->scan, CURSOR_VERSION, cell);
}

int query_next_row(struct query *q, struct cell *cell)
{
	assert(q->form != QUERY_CELLS);
	return q->error ? q->error : select_next(q->scan, CURSOR_ROW, cell);
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

bool query_is_reverse(const struct query *q)
{
	return q->select.reverse;
}

bool query_is_row(const struct query *q, struct bytes segment)
{
	assert(q->delimiter.size > 0);
	return segment.size < q->delimiter.size ||
	       !bytes_equal(
		       bytes_after(segment, segment.size - q->delimiter.size),
		       q->delimiter);
}

/* Whether the segment given last is the end of its row's key. */
static bool at_row(const struct query *q)
{
	return query_is_row(q, bytes_after(buf_bytes(&q->row), q->prefix.size));
}

/*
 * The first row past those with the present segment, sought by key: however
 * many rows a segment has, it costs one seek. As scan_next. In reverse the seek
 * goes to or before the segment's start, so the row whose key is just that may
 * come again, which query_next_segment steps over.
 */
static int skip_segment(struct query *q, struct cell *cell)
{
	struct buf past = BUF_INIT;
	int err;

	assert(q->has_segment);
	if (at_row(q))
		return select_next(q->scan, CURSOR_ROW, cell);
	if (q->select.reverse)
		return select_seek(q->scan, buf_bytes(&q->row), cell);
	err = select_prefix_end(buf_bytes(&q->row), &past);
	/* If no key can follow, this was the last segment. */
	if (!err && past.size > 0)
		err = select_seek(q->scan, buf_bytes(&past), cell);
	buf_release(&past);
	return err;
}

int query_next_segment(struct query *q, struct cell *cell,
		       struct bytes *segment)
{
	int err = q->error;

	assert(q->form == QUERY_SEGMENTS);
	if (err || q->segment_count == q->segment_limit)
		return err;
	err = q->has_segment ? skip_segment(q, cell)
			     : select_next(q->scan, CURSOR_ROW, cell);
	while (err == 1 && q->has_segment &&
	       bytes_starts_with(cell->row, buf_bytes(&q->row)) && !at_row(q))
		err = select_next(q->scan, CURSOR_ROW, cell);
	if (err <= 0)
		return err;
	*segment = segment_of(q, cell->row);
	err = buf_set(&q->row,
		      bytes_of(cell->row.data, q->prefix.size + segment->size));
	if (err)
		return q->error = err;
	q->has_segment = true;
	q->segment_count++;
	/* Borrowed from row, which outlives the cell's key. */
	*segment = bytes_after(buf_bytes(&q->row), q->prefix.size);
	return 1;
}
