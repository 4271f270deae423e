#include "store/text/print/print.h"
#include "store/text/print/print_result.h"

int print_result(const struct json_result *r, enum text_format format,
		 struct buf *out)
{
	struct printer *printer;
	struct cell cell;
	size_t i;
	int err = printer_new(format, &printer);

	for (i = 0; !err && i < r->count; i++) {
		json_result_cell(r, i, &cell);
		err = printer_cell(printer, &cell, out);
	}
	if (!err && r->count > 0)
		err = printer_finish(printer, out);
	printer_free(printer);
	return err;
}

int print_result_line(const struct json_result *r, uint64_t number,
		      struct buf *out)
{
	int err;

	if (!r->has_condition && r->count == 0)
		return 0;
	err = buf_printf(out, "{\"line\": %llu", (unsigned long long)number);
	if (!err && r->has_condition)
		err = buf_printf(out, ", \"matched\": %s",
				 r->matched ? "true" : "false");
	if (err || r->count == 0)
		return err ? err : buf_add_string(out, "}\n");
	err = buf_add_string(out, ", \"cells\": ");
	if (!err)
		err = print_result(r, TEXT_JSONL, out);
	if (!err && out->data[out->size - 1] == '\n')
		out->size--;
	return err ? err : buf_add_string(out, "}\n");
}
