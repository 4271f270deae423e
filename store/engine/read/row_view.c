#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/read/row_view.h"
#include "store/format/sst/rowdir.h"
#include "store/format/sst/sst_iter.h"

/*
 * Rows of sources that have no row directory: memtables, and ssts in which it
 * would have been large beside the data. A row's summary is made when the row
 * is reached, from its first cells.
 */

/* Of rows with more cells, a delete is presumed rather than looked for, so that
 * a list of long rows does not read all of them. Where there is none, that
 * costs one look with a cursor. */
#define CELLS_MAX 16

struct row_view {
	struct iter iter;       /* key is in tally.row, value in value */
	struct iter *cells;     /* owned */
	bool has_deletes;       /* there may be some among cells */
	bool past;              /* cells are past the row, with the result at */
	int at;                 /* set if past */
	struct row_tally tally; /* of the present row */
	struct buf value;       /* the summary, encoded */
};

/* Sums up the row that cells are in, at its first cell; at is what cells
 * returned. Returns as a step of an iterator does. */
static int show(struct row_view *v, int at)
{
	struct key_parts parts;
	struct bytes row;
	size_t n;
	int err;

	assert(at <= 1);
	if (at <= 0)
		return at;
	err = key_split(v->cells->key, &parts);
	if (!err)
		err = row_tally_begin(
			&v->tally, bytes_of(v->cells->key.data, parts.row_end));
	if (err < 0)
		return err;
	row = buf_bytes(&v->tally.row);
	v->past = false;
	for (n = 0; n < CELLS_MAX && !v->past; n++) {
		err = row_tally_add(&v->tally, v->cells->key, &parts);
		if (err < 0)
			return err;
		/* The first put will do, and nothing else counts. */
		if (!v->has_deletes)
			break;
		v->at = iter_next(v->cells);
		if (v->at < 0)
			return v->at;
		v->past = v->at == 0 || !bytes_starts_with(v->cells->key, row);
		if (!v->past && (err = key_split(v->cells->key, &parts)) < 0)
			return err;
	}
	if (v->has_deletes && !v->past)
		v->tally.summary.flags |= ROW_HAS_DELETE;
	buf_reset(&v->value);
	err = row_summary_encode(&v->tally.summary, &v->value);
	v->iter.key = row;
	v->iter.value = buf_bytes(&v->value);
	return err < 0 ? err : 1;
}

static int view_seek(struct iter *it, struct bytes key)
{
	struct row_view *v = (struct row_view *)it;

	return show(v, iter_seek(v->cells, key));
}

/* Cells are either past the row that was shown, or in it, and skip what is left
 * of it. */
static int view_next(struct iter *it)
{
	struct row_view *v = (struct row_view *)it;
	struct buf *row = &v->tally.row;

	assert(row->size > KEY_TABLE_SIZE);
	if (!v->past) {
		/* The successor of a prefix has its final 01 changed to 02. The
		 * tally begins anew with the next row, so it may stay. */
		row->data[row->size - 1]++;
		v->at = iter_skip(v->cells, buf_bytes(row));
	}
	return show(v, v->at);
}

static void view_close(struct iter *it)
{
	struct row_view *v = (struct row_view *)it;

	iter_close(v->cells);
	row_tally_release(&v->tally);
	buf_release(&v->value);
	free(v);
}

/* No skip, as there is nothing to leave but rows; no before, as rows are listed
 * forwards only. */
static const struct iter_ops view_ops = {
	.seek = view_seek,
	.next = view_next,
	.close = view_close,
};

int row_view_new(struct iter *cells, bool has_deletes, struct iter **out)
{
	struct row_view *v = calloc(1, sizeof(*v));

	*out = NULL;
	if (!v) {
		iter_close(cells);
		return -ENOMEM;
	}
	v->iter.ops = &view_ops;
	v->cells = cells;
	v->has_deletes = has_deletes;
	*out = &v->iter;
	return 0;
}

/* The directory of a bulk-loaded sst, with the sequence of its puts: the file
 * was written before that was known, so summaries have 0 in its place. */
struct loaded_rows {
	struct iter iter;
	struct iter *rows; /* of the directory; owned */
	uint64_t seq;      /* not 0 */
	struct buf value;  /* the present summary, encoded anew */
};

/* Ends each step, with what rows returned. */
static int show_loaded(struct loaded_rows *l, int result)
{
	struct row_summary summary;

	if (result <= 0)
		return result;
	result = row_summary_decode(l->rows->value, &summary);
	summary.seq = l->seq;
	buf_reset(&l->value);
	if (!result)
		result = row_summary_encode(&summary, &l->value);
	l->iter.key = l->rows->key;
	l->iter.value = buf_bytes(&l->value);
	return result < 0 ? result : 1;
}

static int loaded_seek(struct iter *it, struct bytes key)
{
	struct loaded_rows *l = (struct loaded_rows *)it;

	return show_loaded(l, iter_seek(l->rows, key));
}

static int loaded_next(struct iter *it)
{
	struct loaded_rows *l = (struct loaded_rows *)it;

	return show_loaded(l, iter_next(l->rows));
}

static void loaded_close(struct iter *it)
{
	struct loaded_rows *l = (struct loaded_rows *)it;

	iter_close(l->rows);
	buf_release(&l->value);
	free(l);
}

static const struct iter_ops loaded_ops = {
	.seek = loaded_seek,
	.next = loaded_next,
	.close = loaded_close,
};

/* rows passes to it, also on failure. */
static int loaded_new(struct iter *rows, uint64_t seq, struct iter **out)
{
	struct loaded_rows *l = calloc(1, sizeof(*l));

	assert(seq > 0);
	*out = NULL;
	if (!l) {
		iter_close(rows);
		return -ENOMEM;
	}
	l->iter.ops = &loaded_ops;
	l->rows = rows;
	l->seq = seq;
	*out = &l->iter;
	return 0;
}

int row_view_of_sst(struct sst *t, struct iter **out)
{
	struct iter *cells;
	int err;

	*out = NULL;
	if (sst_has_rows(t)) {
		err = sst_rows_new(t, &cells);
		if (err < 0 || !sst_seq(t)) {
			*out = cells;
			return err;
		}
		return loaded_new(cells, sst_seq(t), out);
	}
	err = sst_iter_new(t, true, &cells);
	if (err < 0)
		return err;
	return row_view_new(cells, sst_properties(t)->delete_count > 0, out);
}
