#include "store/text/print/print_cells.h"

/* A large value is printed in pieces if it has more bytes than this. */
#define WHOLE_SIZE_MAX ((uint64_t)1 << 20)

void print_cells_leave(struct print_cells *c)
{
	large_put(c->large);
	c->large = NULL;
	c->has_cell = false;
}

void print_cells_release(struct print_cells *c)
{
	print_cells_leave(c);
	buf_release(&c->value);
	printer_free(c->printer);
	c->printer = NULL;
	c->ended = false;
}

/* Readies the value of the cell that next has given. A large one that was
 * collected since the scan began can only be loaded. */
static int take_value(struct print_cells *c, struct scan *scan)
{
	int err = -ESTALE;

	c->has_cell = true;
	if (c->cell.blob.size == 0)
		return 0;
	if (cell_size(&c->cell) > WHOLE_SIZE_MAX)
		err = scan_open_large(scan, &c->cell, &c->large);
	if (err == -ESTALE) {
		buf_reset(&c->value);
		err = scan_load(scan, &c->cell, &c->value);
		c->cell.value = buf_bytes(&c->value);
	}
	c->cell.blob = BYTES_NONE;
	return err;
}

int print_cells_keep(struct print_cells *c)
{
	struct bytes value = c->cell.value;
	int err = 0;

	if (!c->has_cell || c->large || value.size == 0 ||
	    value.data == c->value.data)
		return 0;
	err = buf_set(&c->value, value);
	if (err == 0)
		c->cell.value = buf_bytes(&c->value);
	return err;
}

/* After the last cell. */
static int finish(struct print_cells *c, struct buf *out)
{
	int err = printer_finish(c->printer, out);

	/* 1: a part of the last value, and this is to be asked again. */
	c->ended = err == 0;
	return err < 0 ? err : 0;
}

int print_cells_step(struct print_cells *c, struct select_scan *scan,
		     int (*next)(void *context, struct cell *cell),
		     void *context, struct buf *out)
{
	int err;

	if (!c->has_cell) {
		err = next(context, &c->cell);
		if (err == 0)
			return finish(c, out);
		if (err > 0)
			err = take_value(c, select_source(scan));
		if (err < 0)
			return err;
	}
	/* The label is the scan's, of the cell it gave last. */
	printer_label(c->printer, scan_label(select_source(scan)));
	err = c->large ? printer_large(c->printer, &c->cell, c->large, out)
		       : printer_cell(c->printer, &c->cell, out);
	/* 1: of the cell before. */
	if (err == 0)
		print_cells_leave(c);
	return err < 0 ? err : 0;
}
