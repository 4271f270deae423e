#include "store/text/print/print_cells.h"
#include "tools/data/select_print.h"

/* Text is handed to out in pieces of about so many bytes. */
#define OUT_SIZE 65536

static void hand_on(struct buf *text, FILE *out)
{
	if (text->size > 0)
		fwrite(text->data, 1, text->size, out);
	buf_reset(text);
}

struct counted {
	struct select_scan *scan;
	uint64_t count;
};

/* For print_cells_step. */
static int next_cell(void *context, struct cell *cell)
{
	struct counted *c = context;
	int err = select_next(c->scan, CURSOR_VERSION, cell);

	c->count += err == 1;
	return err;
}

int select_print(struct select_scan *scan, FILE *out, uint64_t *cells)
{
	struct counted counted = { scan, 0 };
	struct print_cells print = { 0 };
	struct buf text = BUF_INIT;
	int err = printer_new(TEXT_CBT, &print.printer);

	while (!err && !print.ended) {
		err = print_cells_step(&print, scan, next_cell, &counted,
				       &text);
		if (text.size >= OUT_SIZE)
			hand_on(&text, out);
	}
	/* Of a value that is printed in part there is nothing to be ended. */
	if (print.printer && err < 0 && !print.large)
		printer_finish(print.printer, &text);
	hand_on(&text, out);
	print_cells_release(&print);
	buf_release(&text);
	if (cells)
		*cells = counted.count;
	return err;
}
