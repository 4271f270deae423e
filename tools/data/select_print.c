#include "store/text/print/print.h"
#include "tools/data/select_print.h"

/* Text is handed to out in pieces of about so many bytes. */
#define OUT_SIZE 65536

static void hand_on(struct buf *text, FILE *out)
{
	if (text->size > 0)
		fwrite(text->data, 1, text->size, out);
	buf_reset(text);
}

int select_print(struct select_scan *scan, FILE *out, uint64_t *cells)
{
	struct printer *printer;
	struct buf text = BUF_INIT;
	struct cell cell;
	uint64_t count = 0;
	int err = printer_new(TEXT_CBT, &printer);

	while (!err && (err = select_next(scan, CURSOR_VERSION, &cell)) == 1) {
		count++;
		printer_label(printer, scan_label(select_source(scan)));
		err = printer_cell(printer, &cell, &text);
		if (text.size >= OUT_SIZE)
			hand_on(&text, out);
	}
	if (printer && printer_finish(printer, &text) < 0 && !err)
		err = -ENOMEM;
	hand_on(&text, out);
	printer_free(printer);
	buf_release(&text);
	if (cells)
		*cells = count;
	return err;
}
