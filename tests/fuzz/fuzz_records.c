#include "store/base/err.h"
#include "store/text/import/import.h"
#include "tests/fuzz/store.h"

/* Records by a few recipes. */
static const char *const recipes[] = {
	"key {a}#{b|trim}\nset f:{c} {d}\nrest g\nadd sum:n 1\n",
	"header no\nkey {#1|any}{$line}\nset f:q {#2|hex}\n",
	"header names:a,b\ncomment '#'\ndelimiter ;\nquote '|'\nkey {a}\n"
	"at {b|time}\nset f:q {b}\n",
	"bytes base64\nkey {a}\nrest f\n",
	"format dynamodb\nkey {a}{b[0]}\nrest f\n",
	"key {a|reverse}{$name|default(-)|any}\nexplode {b}\nset f:q {b.c}\n"
	"rest g\nskip {d} > 3\n",
	"format control\nkey {a}\nset f:{b|default(-)} {c}\nrest g\n",
};

static int add_line(void *context, struct bytes line)
{
	return buf_add_bytes(context, line);
}

/* Refused records, and the one of which pieces came. */
struct refused {
	struct bytes in; /* the whole text */
	struct buf record;
	struct buf *out;
};

static int add_reason(void *context, struct bytes line)
{
	struct refused *r = context;

	return buf_add_bytes(r->out, line);
}

static int add_record(void *context, struct bytes text, bool end)
{
	struct refused *r = context;

	MUST(buf_add_bytes(&r->record, text) == 0);
	if (!end)
		return 0;
	/* It is as it stands in the text. */
	MUST(r->record.size == 0 ||
	     memmem(r->in.data, r->in.size, r->record.data, r->record.size));
	MUST(buf_add_bytes(r->out, buf_bytes(&r->record)) == 0);
	buf_reset(&r->record);
	return 0;
}

static int add_header(void *context, struct bytes text)
{
	return add_record(context, text, true);
}

static int flush(void *context)
{
	(void)context;
	return 0;
}

/* What an import said and made, as text. The store only tells the table. */
static void import(const struct table *table, const char *text, uint8_t how,
		   struct bytes in, size_t piece, struct buf *out)
{
	struct refused refused = { .in = in, .out = out };
	const struct import_rejects rejects = { add_reason, add_header,
						add_record, flush, &refused };
	struct import_options options = {
		.rejects = &rejects,
		.strict = how & 128,
		.refuse_duplicates = how & 8,
		.emit = add_line,
		.context = out,
		.target = table,
	};
	const struct import_result *result;
	struct importer *im;
	int err;

	MUST(recipe_new(&options.recipe) == 0);
	MUST(recipe_parse(options.recipe, bytes_string(text), "r") == 0);
	MUST(recipe_check(options.recipe) == 0);
	MUST(importer_new(NULL, TEXT_CSV, &options, &im) == 0);
	err = importer_begin_file(im, BYTES_LITERAL("file"),
				  (enum recipe_format)(how >> 4) % 5);
	while (err == 0 && in.size > 0) {
		size_t n = in.size < piece ? in.size : piece;

		err = importer_feed(im, bytes_of(in.data, n));
		in = bytes_after(in, n);
	}
	if (err == 0)
		err = importer_finish(im, false);
	MUST(err == 0 || err_detail()[0]);
	result = importer_result(im);
	MUST(buf_printf(out, "%d: lines %llu rows %llu skipped %llu ", err,
			(unsigned long long)result->line_count,
			(unsigned long long)result->row_count,
			(unsigned long long)result->skipped_count) == 0);
	MUST(buf_add_bytes(out, buf_bytes(&result->refused)) == 0);
	importer_free(im);
	buf_release(&refused.record);
	recipe_free(options.recipe);
}

/* Times of the import's own are blotted out: numbers of 16 digits. */
static void blot(struct buf *text)
{
	size_t i, n = 0;

	for (i = 0; i < text->size; i++) {
		n = text->data[i] >= '0' && text->data[i] <= '9' ? n + 1 : 0;
		if (n == 16)
			memset(text->data + i - 15, '0', 16);
	}
}

/* Bytes: how, the size of pieces, the text. In what pieces it comes makes no
 * difference. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT, pieces = BUF_INIT;
	struct schema *schema;
	const struct table *table;
	const char *recipe;
	struct store *s;
	struct bytes text;

	if (size < 2 || size > 10000)
		return 0;
	s = fuzz_store();
	schema = store_schema(s);
	table = schema_table(schema, BYTES_LITERAL("t"));
	text = bytes_of(data + 2, size - 2);
	recipe = recipes[(data[0] & 7) % 7];
	import(table, recipe, data[0], text, SIZE_MAX, &whole);
	import(table, recipe, data[0], text, 1 + data[1], &pieces);
	blot(&whole);
	blot(&pieces);
	MUST(bytes_equal(buf_bytes(&whole), buf_bytes(&pieces)));
	schema_put(schema);
	MUST(store_close(s) == 0);
	buf_release(&whole);
	buf_release(&pieces);
	return 0;
}
