#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/cells/loop.h"
#include "fs/control/ctl_file.h"
#include "fs/query/query_run.h"
#include "fs/state/name.h"
#include "store/text/print/print_cells.h"
#include "store/text/value/text_format.h"
#include "store/text/watch/explain.h"

/*
 * Terminals of .scan that are files. Text is made as it is read, by one cell or
 * row after another, so memory does not grow with it: f->out holds a piece of
 * the text, which begins at the file's offset base. What lies before the part
 * that is asked for is dropped, so reading backwards starts over, on the same
 * snapshot; then the text is the same.
 */

/* To drop from the front moves what is behind: not for less than this. */
#define PIECE_SIZE ((size_t)64 << 10)

enum scan_form {
	SCAN_KEYS,     /* a row's name a line */
	SCAN_COUNT,    /* of rows */
	SCAN_ESTIMATE, /* "~" and a number of rows, of which none is read */
	SCAN_SAMPLES,  /* sizes and rows that part the range */
	SCAN_EXPLAIN,  /* how it is read, and what that costs */
	SCAN_CELLS,    /* what a printer makes of cells */
};

/* An open terminal: a ctl_file's state, guarded by its lock. */
struct scan_text {
	enum scan_form form;
	enum text_format format;  /* for SCAN_CELLS */
	struct query *query;      /* owned */
	struct print_cells cells; /* for SCAN_CELLS */
	uint64_t base;            /* the offset of f->out's first byte */
	uint64_t count;           /* rows so far, for SCAN_COUNT */
	bool ended;               /* f->out ends with the text */
	/* Making text or starting over did: out is not to be trusted, and query
	 * and printer may be at no place. */
	bool failed;
};

/* By the terminal's name, which is one of ctl_table.c's. */
static void read_form(struct bytes name, struct scan_text *t)
{
	t->form = SCAN_CELLS;
	if (bytes_equal(name, BYTES_LITERAL("keys")))
		t->form = SCAN_KEYS;
	else if (bytes_equal(name, BYTES_LITERAL("count")))
		t->form = SCAN_COUNT;
	else if (bytes_equal(name, BYTES_LITERAL("estimate")))
		t->form = SCAN_ESTIMATE;
	else if (bytes_equal(name, BYTES_LITERAL("samples")))
		t->form = SCAN_SAMPLES;
	else if (bytes_equal(name, BYTES_LITERAL("explain")))
		t->form = SCAN_EXPLAIN;
	else if (bytes_equal(name, BYTES_LITERAL("csv")))
		t->format = TEXT_CSV;
	else if (bytes_equal(name, BYTES_LITERAL("tsv")))
		t->format = TEXT_TSV;
	else if (bytes_equal(name, BYTES_LITERAL("jsonl")) ||
		 bytes_equal(name, BYTES_LITERAL(".row.jsonl")))
		t->format = TEXT_JSONL;
	else
		t->format = TEXT_CBT;
}

/* t may be half made. */
static void free_text(struct fs *fs, struct scan_text *t)
{
	print_cells_release(&t->cells);
	if (t->query)
		query_close(fs, t->query);
	free(t);
}

int ctl_scan_open(struct fs *fs, struct ctl_file *f)
{
	struct scan_text *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	read_form(node_name(f->node), t);
	err = query_open(fs, f->node,
			 t->form == SCAN_CELLS || t->form == SCAN_EXPLAIN
				 ? QUERY_CELLS
				 : QUERY_ROWS,
			 &t->query);
	if (!err && t->form == SCAN_CELLS)
		err = printer_new(t->format, &t->cells.printer);
	if (err) {
		free_text(fs, t);
		return err;
	}
	f->state = t;
	return 0;
}

/* Back to offset 0, with nothing made. */
static int start_over(struct fs *fs, struct ctl_file *f, struct scan_text *t)
{
	t->base = 0;
	t->count = 0;
	t->ended = false;
	buf_reset(&f->out);
	print_cells_release(&t->cells);
	if (t->form == SCAN_CELLS) {
		int err = printer_new(t->format, &t->cells.printer);

		if (err)
			return err;
	}
	return query_rewind(fs, t->query);
}

/* Appends what comes after the last row. */
static int finish(struct scan_text *t, struct buf *out)
{
	t->ended = true;
	return t->form == SCAN_COUNT
		       ? buf_printf(out, "%llu\n", (unsigned long long)t->count)
		       : 0;
}

/* For print_cells_step. */
static int next_cell(void *query, struct cell *cell)
{
	return query_next(query, cell);
}

/* Appends what one more cell makes, or a part of it. */
static int produce_cell(struct scan_text *t, struct buf *out)
{
	int err = print_cells_step(&t->cells, t->query->scan, next_cell,
				   t->query, out);

	t->ended = t->cells.ended;
	return err;
}

/* Appends the estimate: of the range of rows, at most the limit; other steps do
 * not count. */
static int estimate(struct fs *fs, struct scan_text *t, struct buf *out)
{
	const struct select *s = &t->query->select;
	struct bytes start, end;
	struct place place;
	uint64_t n = 0;
	int err = place_enter(fs, t->query->node, &place);

	if (!err && select_hull(s, &start, &end))
		err = store_estimate_rows(fs->store, place.path.table, start,
					  end, &n);
	place_leave(fs, &place);
	/* An estimate of more rows than could come is a wrong one. */
	if (n > s->row_limit)
		n = s->row_limit;
	t->ended = true;
	return err ? err : buf_printf(out, "~%llu\n", (unsigned long long)n);
}

/* For store_sample_rows: a line of the bytes stored before row, and its name;
 * the last has no row. */
static int print_sample(void *context, struct bytes row, uint64_t size)
{
	struct buf *out = context;
	int err = buf_printf(out, "%llu", (unsigned long long)size);

	if (!err && row.size > 0)
		err = buf_add_byte(out, ' ');
	if (!err && row.size > 0)
		err = name_encode_whole(NAME_ROW, row, out);
	return err ? err : buf_add_byte(out, '\n');
}

/* Appends all samples of the range at once: there is about one a file. */
static int samples(struct fs *fs, struct scan_text *t, struct buf *out)
{
	struct bytes start, end;
	struct place place;
	int err = place_enter(fs, t->query->node, &place);

	if (!err && select_hull(&t->query->select, &start, &end))
		err = store_sample_rows(fs->store, place.path.table, start, end,
					print_sample, out);
	place_leave(fs, &place);
	t->ended = true;
	return err;
}

/* Appends all of the explanation at once, without the tree, since all is read.
 * The query's own scan has the filters: it ends, and with it the query until it
 * is rewound. */
static int explain(struct fs *fs, struct scan_text *t, struct buf *out)
{
	struct scan_range how = { .stop = loop_is_interrupted,
				  .keep_large = true };
	struct query *q = t->query;
	struct buf table = BUF_INIT;
	struct place place;
	int err = place_enter(fs, q->node, &place);

	if (!err)
		err = buf_set(&table, place.path.table);
	place_leave(fs, &place);
	select_close(q->scan);
	q->scan = NULL;
	how.table = buf_bytes(&table);
	if (!err)
		err = explain_print(fs->store, q->snapshot, &q->select, &how,
				    out);
	buf_release(&table);
	t->ended = true;
	return err;
}

/* Appends what one more cell or row makes, or the end of the text. */
static int produce(struct fs *fs, struct scan_text *t, struct buf *out)
{
	struct cell cell;
	int err;

	assert(!t->ended);
	if (t->form == SCAN_ESTIMATE)
		return estimate(fs, t, out);
	if (t->form == SCAN_SAMPLES)
		return samples(fs, t, out);
	if (t->form == SCAN_EXPLAIN)
		return explain(fs, t, out);
	if (t->form == SCAN_CELLS)
		return produce_cell(t, out);
	err = query_next_row(t->query, &cell);
	if (err == 0)
		return finish(t, out);
	if (err < 0)
		return err;
	t->count++;
	if (t->form == SCAN_COUNT)
		return 0;
	err = name_encode_whole(NAME_ROW, cell.row, out);
	return err ? err : buf_add_byte(out, '\n');
}

int ctl_scan_read(struct fs *fs, struct ctl_file *f, uint64_t offset,
		  size_t size, struct buf *out)
{
	struct scan_text *t = f->state;
	uint64_t wanted = offset + size;
	int err = 0;
	size_t n;

	/* Of a table that was dropped meanwhile the scan would give what is
	 * left, and then end as if that were all. */
	if (!t->ended) {
		err = place_check(fs, f->node);
		if (err)
			return err;
	}
	/* After an error the query is at no known place in the text. */
	if (offset < t->base || t->failed) {
		err = start_over(fs, f, t);
		t->failed = err != 0;
	}
	while (!err && !t->ended && t->base + f->out.size < wanted) {
		/* Drop what lies before the wanted part: if it is all, or so
		 * much that moving the rest is worth it. */
		n = f->out.size;
		if (t->base + n > offset)
			n = (size_t)(offset - t->base);
		if (n > 0 && (n == f->out.size || n >= PIECE_SIZE)) {
			memmove(f->out.data, f->out.data + n, f->out.size - n);
			f->out.size -= n;
			t->base += n;
		}
		err = produce(fs, t, &f->out);
		t->failed = err != 0;
	}
	/* Whoever reads it may go away for a while, and is to keep no files. */
	if (print_cells_keep(&t->cells) == 0)
		query_rest(t->query);
	if (err || offset >= t->base + f->out.size)
		return err;
	assert(offset >= t->base);
	n = (size_t)(t->base + f->out.size - offset);
	return buf_add(out, f->out.data + (offset - t->base),
		       n < size ? n : size);
}

void ctl_scan_release(struct fs *fs, struct ctl_file *f)
{
	/* A .row.jsonl that is only written has none. */
	if (f->state)
		free_text(fs, f->state);
}

const struct ctl_ops ctl_scan_ops = {
	.open = ctl_scan_open,
	.read = ctl_scan_read,
	.release = ctl_scan_release,
};
