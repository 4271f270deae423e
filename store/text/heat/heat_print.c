#include <stdlib.h>

#include "store/text/heat/heat_html.h"
#include "store/text/heat/heat_label.h"
#include "store/text/heat/heat_print.h"
#include "store/text/heat/heat_svg.h"
#include "store/text/heat/heat_terminal.h"

/* Characters of a key: there are two in each line. */
#define KEY_MAX 256

/* A line for each cell with a value. */
static int print_tsv(const struct heat_picture *p, struct buf *out)
{
	size_t r, c;
	int err =
		buf_printf(out, "start\tend\tpart\tparts\ttime\tseconds\t%s\n",
			   heat_unit(p->metric));

	for (r = 0; r < p->rows; r++)
		for (c = 0; c < p->columns && err == 0; c++) {
			const struct heat_row *row = &p->row[r];
			double value = p->values[r * p->columns + c];

			if (value == 0)
				continue;
			err = heat_add_key(row->start, KEY_MAX, out);
			if (err == 0)
				err = buf_add_byte(out, '\t');
			if (err == 0)
				err = heat_add_key(row->end, KEY_MAX, out);
			if (err == 0)
				err = buf_printf(out, "\t%u\t%u\t", row->part,
						 row->parts);
			if (err == 0)
				err = heat_add_time(p->from_s + c * p->column_s,
						    out);
			if (err == 0)
				err = buf_printf(
					out, "\t%llu\t%.6g\n",
					(unsigned long long)p->column_s, value);
		}
	return err;
}

int heat_print(const struct heat_picture *p, struct bytes table,
	       const struct heat_style *style, struct buf *out)
{
	switch (style->format) {
	case HEAT_TSV:
		return print_tsv(p, out);
	case HEAT_SVG:
		return heat_print_svg(p, table, out);
	case HEAT_HTML:
		return heat_print_html(p, table, out);
	default:
		return heat_print_terminal(p, table, style, out);
	}
}
