#include "store/text/import/import.h"
#include "tests/fuzz/store.h"

/* What an import said and did, as text. */
static void import(struct store *s, struct bytes table, uint8_t how,
		   struct bytes text, size_t piece, struct buf *out)
{
	struct import_options options = {
		.table = table,
		.family = how & 4 ? BYTES_LITERAL("f") : BYTES_NONE,
		.value_timestamps = how & 8,
		.strict = how & 16,
	};
	static const enum text_format formats[] = { TEXT_CSV, TEXT_TSV,
						    TEXT_JSONL, TEXT_JSONL };
	const struct import_result *result;
	struct importer *im;
	int err;

	MUST(importer_new(s, formats[how & 3], &options, &im) == 0);
	do {
		size_t n = text.size < piece ? text.size : piece;

		err = importer_feed(im, bytes_of(text.data, n));
		text = bytes_after(text, n);
	} while (err == 0 && text.size > 0);
	if (err == 0)
		err = importer_finish(im, false);
	MUST(err == 0 || err_detail()[0]);
	result = importer_result(im);
	MUST(buf_printf(out, "%d: lines %llu rows %llu cells %llu good %llu ",
			err, (unsigned long long)result->line_count,
			(unsigned long long)result->row_count,
			(unsigned long long)result->cell_count,
			(unsigned long long)result->committed_line) == 0);
	MUST(buf_add_bytes(out, buf_bytes(&result->refused)) == 0);
	importer_free(im);
}

/* All cells of a table, without times that are now. */
static void dump(struct store *s, struct bytes table, struct buf *out)
{
	struct scan_range range = { .table = table };
	struct scan *scan;
	struct cell c;
	int more;

	MUST(scan_open(s, NULL, &range, &scan) == 0);
	while ((more = scan_next(scan, CURSOR_VERSION, &c)) > 0) {
		MUST(buf_add_bytes(out, c.row) == 0);
		MUST(buf_add_bytes(out, c.family) == 0);
		MUST(buf_add_bytes(out, c.qualifier) == 0);
		if (c.timestamp_us < UINT64_C(1000000000000000))
			MUST(buf_printf(out, "@%llu",
					(unsigned long long)c.timestamp_us) ==
			     0);
		MUST(buf_add_byte(out, '=') == 0);
		MUST(buf_add_bytes(out, c.value) == 0);
	}
	MUST(more == 0);
	scan_close(scan);
}

/* Bytes: options, the size of pieces, the text. In what pieces it comes makes
 * no difference, to what is said nor to what is there. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT, pieces = BUF_INIT;
	struct bytes text;
	struct store *s;

	if (size < 2 || size > 10000)
		return 0;
	text = bytes_of(data + 2, size - 2);
	s = fuzz_store();
	import(s, BYTES_LITERAL("t"), data[0], text, SIZE_MAX, &whole);
	import(s, BYTES_LITERAL("u"), data[0], text, 1 + data[1], &pieces);
	MUST(bytes_equal(buf_bytes(&whole), buf_bytes(&pieces)));
	dump(s, BYTES_LITERAL("t"), &whole);
	dump(s, BYTES_LITERAL("u"), &pieces);
	MUST(bytes_equal(buf_bytes(&whole), buf_bytes(&pieces)));
	MUST(store_close(s) == 0);
	buf_release(&whole);
	buf_release(&pieces);
	return 0;
}
