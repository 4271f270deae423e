#include <assert.h>
#include <stdlib.h>

#include "store/text/import/import_recipe.h"
#include "store/text/import/import_source.h"

int import_source_begin(struct importer *im, struct bytes file,
			enum recipe_format by_name)
{
	struct import_recipe *by = &im->by;
	const struct recipe_source *source = recipe_source(im->recipe);

	assert(im->start == im->input.size || im->by.file.size == 0);
	by->line_base = im->result.line_count;
	by->looked = im->marked = false;
	by->format = source->format ? source->format : by_name;
	im->input.size = im->start = im->at = 0;
	im->line = im->line_next = 1;
	im->header = HEADER_COLUMNS;
	im->csv = CSV_FIELD;
	im->csv_lines = im->csv_line_at = 0;
	im->field_count = 0;
	im->header_text.size = by->name_count = 0;
	by->in_array = by->has_records = by->array_ended = false;
	return buf_set(&by->file, file);
}

/* The first line, or what there is of it. */
static struct bytes first_line(struct bytes in)
{
	const uint8_t *end = in.size ? memchr(in.data, '\n', in.size) : NULL;

	return bytes_of(in.data, end ? (size_t)(end - in.data) : in.size);
}

/* By the content: [ begins an array, { a record, of lines if its line ends with
 * }; else tabs make TSV where there are no commas. */
static enum recipe_format guess(struct bytes in)
{
	struct bytes line;
	size_t i = 0;

	while (i < in.size && in.data[i] <= ' ')
		i++;
	line = first_line(bytes_after(in, i));
	while (line.size > 0 && line.data[line.size - 1] <= ' ')
		line.size--;
	if (line.size > 0 && line.data[0] == '[')
		return RECIPE_JSON;
	if (line.size > 0 && line.data[0] == '{')
		return line.data[line.size - 1] == '}' ? RECIPE_JSONL
						       : RECIPE_JSON;
	if (line.size > 0 && memchr(line.data, '\t', line.size) &&
	    !memchr(line.data, ',', line.size))
		return RECIPE_TSV;
	return RECIPE_CSV;
}

/* The characters of the format, unless the recipe says others. */
static void set_characters(struct importer *im)
{
	const struct recipe_source *source = recipe_source(im->recipe);

	im->delimiter = im->by.format == RECIPE_TSV ? '\t' : ',';
	if (source->delimiter >= 0)
		im->delimiter = (uint8_t)source->delimiter;
	im->quote = source->quote;
	/* TSV has no quotes: what would part is escaped. */
	if (im->by.format == RECIPE_TSV)
		im->quote = -1;
	im->comment = source->comment;
}

/* The program that undoes what a file begins so was done by, or NULL. */
static const char *undone_by(struct bytes in)
{
	static const struct {
		const char *program, *begin;
	} known[] = { { "gzip", "\x1f\x8b" },
		      { "lz4", "\x04\x22\x4d\x18" },
		      { "zstd", "\x28\xb5\x2f\xfd" },
		      { "xz", "\xfd"
			      "7zXZ" },
		      { "bzip2", "BZh" } };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (bytes_starts_with(in, bytes_string(known[i].begin)))
			return known[i].program;
	return NULL;
}

int import_source_mark(struct importer *im, bool final)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
	struct bytes in = bytes_of(im->input.data + im->start,
				   im->input.size - im->start);
	size_t same = 0;

	if (im->marked)
		return 1;
	if (!final && in.size < 2)
		return 0;
	if (bytes_starts_with(in, BYTES_LITERAL("\xff\xfe")) ||
	    bytes_starts_with(in, BYTES_LITERAL("\xfe\xff")))
		return fail(ERR_bad_argument,
			    "%.*s%sit is UTF-16; iconv -f UTF-16 -t UTF-8 "
			    "makes UTF-8 of it",
			    (int)im->by.file.size, im->by.file.data,
			    im->by.file.size > 0 ? ": " : "");
	while (same < sizeof(mark) && same < in.size &&
	       in.data[same] == mark[same])
		same++;
	if (!final && same == in.size && same < sizeof(mark))
		return 0;
	im->marked = true;
	/* cbt takes it for a wrong header, and so is it in its form. */
	if (same == sizeof(mark) && (im->recipe || im->format != TEXT_CSV))
		im->start += sizeof(mark);
	return 1;
}

int import_source_look(struct importer *im, bool final)
{
	struct import_recipe *by = &im->by;
	struct bytes in;
	int err;

	if (by->looked)
		return 1;
	err = import_source_mark(im, final);
	if (err <= 0)
		return err;
	in = bytes_of(im->input.data + im->start, im->input.size - im->start);
	if (undone_by(in))
		return fail(ERR_bad_argument,
			    "%.*s: it is compressed; tabletfs import undoes "
			    "that, and so does %s -dc",
			    (int)by->file.size, (char *)by->file.data,
			    undone_by(in));
	if (im->resume.saved.format)
		by->format = (enum recipe_format)im->resume.saved.format;
	if (!final && first_line(in).size == in.size && in.size < 65536)
		return 0;
	/* Lines with one value each that holds others inside are an array's. */
	if (by->format == RECIPE_UNSAID)
		by->format = guess(in);
	else if (by->format == RECIPE_JSON && guess(in) == RECIPE_JSONL &&
		 recipe_source(im->recipe)->format == RECIPE_UNSAID)
		by->format = RECIPE_JSONL;
	set_characters(im);
	err = import_recipe_begin(im);
	if (err < 0)
		return err;
	by->looked = true;
	return 1;
}
