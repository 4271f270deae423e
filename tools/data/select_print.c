#include <assert.h>

#include "store/text/print/print.h"
#include "tools/data/select.h"
#include "tools/data/select_print.h"

/* Text is handed to out in pieces of about so many bytes. */
#define OUT_SIZE 65536

/* One pass over a scan: cells come in order, and each is judged by its row, its
 * column and its rank in the column; what was found of the first two holds
 * until they change. */
struct pass {
	const struct select *select; /* borrowed, as counts and out */
	struct select_counts *counts;
	struct printer *printer; /* owned */
	struct buf text;         /* printed, not yet handed to out */
	FILE *out;
	/* Of the present column: */
	bool row_wanted, column_wanted, row_printed;
	uint64_t versions;                 /* shown */
	struct buf row, family, qualifier; /* its name, copied */
	bool any;                          /* a cell was seen */
};

/* Whether some column of the selection has this family and, unless it is NULL,
 * this qualifier: 1, 0 or an error. */
static int wanted(const struct select *s, struct bytes family,
		  const struct bytes *qualifier)
{
	size_t i;
	int found = s->column_count == 0;

	for (i = 0; found == 0 && i < s->column_count; i++) {
		const struct select_column *column = &s->columns[i];

		found = column->family
				? regex_match(column->family, family, NULL)
				: 1;
		if (found > 0 && qualifier && column->qualifier)
			found = regex_match(column->qualifier, *qualifier,
					    NULL);
	}
	return found;
}

/* Looks at what is new about the cell, and asks the regexes only about that; 0
 * or an error. */
static int enter(struct pass *p, const struct cell *cell)
{
	bool same_row = p->any && bytes_equal(buf_bytes(&p->row), cell->row);
	bool same_column =
		same_row && bytes_equal(buf_bytes(&p->family), cell->family) &&
		bytes_equal(buf_bytes(&p->qualifier), cell->qualifier);
	int err = 0;

	p->any = true;
	if (!same_row) {
		p->counts->rows_seen++;
		p->row_printed = false;
		err = p->select->row
			      ? regex_match(p->select->row, cell->row, NULL)
			      : 1;
		p->row_wanted = err > 0;
		if (err >= 0)
			err = buf_set(&p->row, cell->row);
	}
	if (err < 0 || same_column)
		return err;
	/* A new column: its first version has rank 0. */
	p->versions = 0;
	err = p->row_wanted ? wanted(p->select, cell->family, &cell->qualifier)
			    : 0;
	p->column_wanted = err > 0;
	if (err >= 0)
		err = buf_set(&p->family, cell->family);
	if (!err)
		err = buf_set(&p->qualifier, cell->qualifier);
	return err;
}

/* Prints the cell if it is wanted; 0 or an error. */
static int show(struct pass *p, struct cell cell)
{
	int err;

	assert(p->any);
	p->counts->cells_seen++;
	if (!p->column_wanted || p->versions >= p->select->cell_limit)
		return 0;
	if (!p->row_printed)
		/* Only with its first cell: a row of which nothing is shown is
		 * not returned. */
		p->counts->rows_returned++;
	p->row_printed = true;
	p->versions++;
	p->counts->cells_returned++;
	if (p->select->keys_only)
		/* cell is a copy; the scan's is untouched. */
		cell.value = BYTES_NONE;
	err = printer_cell(p->printer, &cell, &p->text);
	if (!err && p->text.size >= OUT_SIZE) {
		fwrite(p->text.data, 1, p->text.size, p->out);
		buf_reset(&p->text);
	}
	return err;
}

/* The step to the next cell that may be wanted, enum cursor_step, or an error.
 * With stats every cell is looked at, for they are counted. A family that no
 * column of the selection has is passed over whole. */
static int next_step(const struct pass *p, const struct cell *cell)
{
	int found;

	if (p->select->stats)
		return CURSOR_VERSION;
	if (!p->row_wanted)
		return CURSOR_ROW;
	if (p->column_wanted)
		return p->versions >= p->select->cell_limit ? CURSOR_COLUMN
							    : CURSOR_VERSION;
	found = wanted(p->select, cell->family, NULL);
	return found < 0 ? found : found ? CURSOR_COLUMN : CURSOR_FAMILY;
}

/* Whether the row limit is reached, and the present cell is of another row
 * than the last one printed. */
static bool full(const struct pass *p)
{
	return p->counts->rows_returned >= p->select->row_limit &&
	       !p->row_printed;
}

/* Goes through the scan until its end or the row limit. A reverse scan gives 0
 * also at the end of each row: it goes on with CURSOR_ROW, whose 0 is the
 * end. */
static int run(struct pass *p, struct scan *scan)
{
	struct cell cell;
	int step = CURSOR_VERSION, err;

	if (p->select->row_limit == 0)
		return 0;
	for (;;) {
		err = scan_next(scan, (enum cursor_step)step, &cell);
		/* A reverse scan stops at the end of each row. */
		if (err == 0 && p->select->reversed && p->any &&
		    step != CURSOR_ROW) {
			step = CURSOR_ROW;
			if (p->counts->rows_returned >= p->select->row_limit)
				return 0;
			continue;
		}
		if (err <= 0)
			return err;
		err = enter(p, &cell);
		if (err < 0 || full(p))
			return err;
		printer_label(p->printer, scan_label(scan));
		err = show(p, cell);
		if (!err)
			err = step = next_step(p, &cell);
		if (err < 0)
			return err;
	}
}

int select_print(const struct select *s, struct scan *scan, FILE *out,
		 struct select_counts *counts)
{
	struct pass p = { .select = s, .counts = counts, .out = out };
	int err = printer_new(TEXT_CBT, &p.printer);

	if (!err)
		err = run(&p, scan);
	/* What was read before an error is shown all the same. */
	if (p.printer && printer_finish(p.printer, &p.text) < 0 && !err)
		err = -ENOMEM;
	if (p.text.size > 0)
		fwrite(p.text.data, 1, p.text.size, out);
	printer_free(p.printer);
	buf_release(&p.text);
	buf_release(&p.row);
	buf_release(&p.family);
	buf_release(&p.qualifier);
	return err;
}
