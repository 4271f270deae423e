#include <assert.h>

#include "tools/past/compare.h"

int compare_take(struct compare *x, int side, struct store *s,
		 struct snapshot *moment, struct bytes table)
{
	struct compare_side *at = &x->sides[side];
	int err;

	x->store = s;
	at->moment.snapshot = moment;
	err = moment_take(s, &at->moment);
	if (err < 0)
		return err;
	at->table = table_by_id(at->moment.schema,
				store_table_id(s, at->moment.snapshot, table));
	return at->table ? 0
			 : fail(ERR_no_table, "table \"%s\" not found%s",
				err_name(table), moment ? " then" : "");
}

int compare_begin(struct compare *x, struct select *of_old,
		  struct select *of_new)
{
	int i, err = 0;

	x->sides[COMPARE_OLD].select = of_old;
	x->sides[COMPARE_NEW].select = of_new;
	for (i = 0; i < COMPARE_SIDES && !err; i++) {
		struct compare_side *at = &x->sides[i];
		struct scan_range how = { .keep_large = true };

		err = moment_select(x->store, &at->moment, at->table,
				    at->select, &how, &at->scan);
	}
	/* The first cells of both are wanted. */
	x->cell_sides = COMPARE_ONLY_OLD | COMPARE_ONLY_NEW;
	x->step = CURSOR_VERSION;
	return err;
}

/* The order in which both scans give cells. */
static int order(const struct cell *a, const struct cell *b)
{
	int order = bytes_compare(a->row, b->row);

	if (!order)
		order = bytes_compare(a->family, b->family);
	if (!order)
		order = bytes_compare(a->qualifier, b->qualifier);
	if (!order)
		order = (a->timestamp_us < b->timestamp_us) -
			(a->timestamp_us > b->timestamp_us);
	return order;
}

static int load(struct compare_side *at)
{
	buf_reset(&at->value);
	return scan_load(select_source(at->scan), &at->cell, &at->value);
}

/* Whether both have the same value: 1, 0 or an error. Large ones mostly refer
 * to the same bytes. */
static int is_same(struct compare *x)
{
	struct compare_side *a = &x->sides[COMPARE_OLD];
	struct compare_side *b = &x->sides[COMPARE_NEW];
	int err;

	if (a->cell.aggregate != b->cell.aggregate ||
	    cell_size(&a->cell) != cell_size(&b->cell))
		return 0;
	if (bytes_equal(a->cell.blob, b->cell.blob) &&
	    bytes_equal(a->cell.value, b->cell.value))
		return 1;
	if (a->cell.blob.size == 0 && b->cell.blob.size == 0)
		return 0;
	err = load(a);
	if (!err)
		err = load(b);
	return err < 0 ? err
		       : bytes_equal(buf_bytes(&a->value),
				     buf_bytes(&b->value));
}

/* Lets each side go on that gave the cell before. */
static int advance(struct compare *x)
{
	int i, more;

	for (i = 0; i < COMPARE_SIDES; i++) {
		struct compare_side *at = &x->sides[i];

		if (!(x->cell_sides & 1u << i))
			continue;
		more = select_next(at->scan, x->step, &at->cell);
		if (more < 0)
			return more;
		at->has = more;
	}
	x->step = CURSOR_VERSION;
	return 0;
}

/* The cell is of the row before, or of a new one. */
static int enter_row(struct compare *x)
{
	struct bytes row = compare_cell(x)->row;
	int i;

	if (x->row_number > 0 && bytes_equal(row, buf_bytes(&x->row)))
		return 0;
	x->row_number++;
	x->row_sides = 0;
	for (i = 0; i < COMPARE_SIDES; i++)
		if (x->sides[i].has && bytes_equal(x->sides[i].cell.row, row))
			x->row_sides |= 1u << i;
	return buf_set(&x->row, row);
}

int compare_next(struct compare *x)
{
	const struct compare_side *a = &x->sides[COMPARE_OLD];
	const struct compare_side *b = &x->sides[COMPARE_NEW];
	int err, which, same;

	do {
		err = advance(x);
		if (err < 0 || (!a->has && !b->has))
			return err;
		which = !a->has ? 1 : !b->has ? -1 : order(&a->cell, &b->cell);
		x->cell_sides = (which <= 0 ? COMPARE_ONLY_OLD : 0) |
				(which >= 0 ? COMPARE_ONLY_NEW : 0);
		err = enter_row(x);
		same = !err && which == 0 ? is_same(x) : 0;
		if (same < 0)
			err = same;
	} while (!err && same);
	return err < 0 ? err : 1;
}

void compare_skip_row(struct compare *x)
{
	assert(x->row_sides == COMPARE_ONLY_OLD ||
	       x->row_sides == COMPARE_ONLY_NEW);
	x->step = CURSOR_ROW;
}

const struct cell *compare_cell(const struct compare *x)
{
	return x->cell_sides & COMPARE_ONLY_OLD ? &x->sides[COMPARE_OLD].cell
						: &x->sides[COMPARE_NEW].cell;
}

void compare_close(struct compare *x)
{
	int i;

	for (i = 0; i < COMPARE_SIDES; i++) {
		select_close(x->sides[i].scan);
		if (x->store)
			moment_release(x->store, &x->sides[i].moment);
		buf_release(&x->sides[i].value);
	}
	buf_release(&x->row);
}
