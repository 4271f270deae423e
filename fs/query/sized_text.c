#include <assert.h>

#include "fs/query/sized_text.h"

int sized_text_open(struct fs *fs, struct node *node, enum text_format format,
		    const struct snapshot *snapshot, struct sized_text *t)
{
	int err;

	*t = (struct sized_text){ .format = format, .wanted = UINT64_MAX };
	err = query_open_at(fs, node, QUERY_CELLS, snapshot, &t->query);
	if (!err)
		err = printer_new(format, &t->cells.printer);
	if (err)
		sized_text_close(fs, t);
	return err;
}

void sized_text_close(struct fs *fs, struct sized_text *t)
{
	print_cells_release(&t->cells);
	if (t->query)
		query_close(fs, t->query);
	t->query = NULL;
}

int sized_text_seek(struct fs *fs, struct sized_text *t,
		    const struct sized_point *point)
{
	int err;

	print_cells_release(&t->cells);
	t->wanted = UINT64_MAX;
	t->stopped = t->ended = false;
	t->made = point ? point->offset : 0;
	t->rows = 0;
	err = printer_new(t->format, &t->cells.printer);
	if (err)
		return err;
	if (!point)
		return query_rewind(fs, t->query);
	printer_resume(t->cells.printer);
	return query_rewind_at(fs, t->query, point->row);
}

/* For print_cells_step. To stop, it says that this was the last. */
static int next_cell(void *text, struct cell *cell)
{
	struct sized_text *t = text;
	int err = 1;

	if (t->stopped) {
		t->stopped = false;
		t->wanted = UINT64_MAX;
		*cell = t->first;
	} else {
		err = query_next(t->query, cell);
	}
	if (err != 1 || select_row_count(t->query->scan) == t->rows)
		return err;
	/* A row begins. */
	if (t->rows > 0 && t->made >= t->wanted) {
		t->first = *cell;
		t->stopped = true;
		return 0;
	}
	t->rows = select_row_count(t->query->scan);
	return 1;
}

int sized_text_make(struct sized_text *t, struct buf *out)
{
	size_t before = out->size;
	int err =
		print_cells_step(&t->cells, t->query->scan, next_cell, t, out);

	t->made += out->size - before;
	if (err || !t->cells.ended)
		return err;
	t->ended = !t->stopped;
	if (t->stopped) {
		t->cells.ended = false;
		printer_resume(t->cells.printer);
	}
	return 0;
}

void sized_text_rest(struct sized_text *t)
{
	if (!t->stopped && print_cells_keep(&t->cells) == 0)
		query_rest(t->query);
}
