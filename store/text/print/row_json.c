#include "store/text/print/print.h"
#include "store/text/print/row_json.h"
#include "store/text/value/text_format.h"

/* The steps of the scan choose: by columns it gives the newest version of
 * each. */
int row_print_json(struct scan *scan, bool all_versions, struct buf *out)
{
	enum cursor_step step = all_versions ? CURSOR_VERSION : CURSOR_COLUMN;
	struct printer *p;
	struct cell cell;
	int err = printer_new(TEXT_JSONL, &p);

	if (err < 0)
		return err;
	while ((err = scan_next(scan, step, &cell)) > 0) {
		err = printer_cell(p, &cell, out);
		if (err < 0)
			break;
	}
	if (!err)
		err = printer_finish(p, out);
	printer_free(p);
	return err;
}
