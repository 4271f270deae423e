#include <assert.h>
#include <stdlib.h>

#include "store/text/import/import_recipe.h"
#include "store/text/import/import_source.h"
#include "store/text/json/json_control.h"
#include "store/text/value/foreign.h"

/* Whether the recipe parts fields by what TSV does not. */
static bool parts_csv(const struct recipe_source *source)
{
	return source->delimiter != RECIPE_ITS_OWN && source->delimiter != '\t';
}

int import_source_begin(struct importer *im, struct bytes file,
			enum recipe_format by_name)
{
	struct import_recipe *by = &im->by;
	const struct recipe_source *source = recipe_source(im->recipe);

	assert(im->start == im->input.size || im->by.file.size == 0);
	by->line_base = im->result.line_count;
	by->looked = im->marked = false;
	by->format = source->format ? source->format : by_name;
	/* Without a delimiter lines are whole, whatever they look like. */
	if (!source->format && (source->delimiter == RECIPE_NO_BYTE ||
				(by_name == RECIPE_TSV && parts_csv(source))))
		by->format = RECIPE_CSV;
	im->input.size = im->start = im->at = 0;
	im->line = im->line_next = 1;
	im->header = HEADER_COLUMNS;
	im->csv = CSV_FIELD;
	im->csv_lines = im->csv_line_at = 0;
	im->field_count = 0;
	im->header_text.size = by->name_count = 0;
	by->in_array = by->has_records = by->array_ended = false;
	by->array_last = ARRAY_ANY;
	by->array_index = 0;
	return buf_set(&by->file, file);
}

/* The first line that is not blank, or what there is of it. */
static struct bytes first_line(struct bytes in)
{
	const uint8_t *end;

	while (in.size > 0 && in.data[0] <= ' ')
		in = bytes_after(in, 1);
	end = in.size ? memchr(in.data, '\n', in.size) : NULL;
	return bytes_of(in.data, end ? (size_t)(end - in.data) : in.size);
}

/* By the content: [ begins an array, { a record, of lines if its line ends with
 * }; a name and a colon begin a paragraph, unless the recipe speaks of columns;
 * else tabs make TSV where there are no commas. */
static enum recipe_format guess(const struct recipe_source *source,
				struct bytes in)
{
	bool has_columns = source->header != RECIPE_HEADER ||
			   source->delimiter != RECIPE_ITS_OWN;
	struct bytes line = first_line(in);

	while (line.size > 0 && line.data[line.size - 1] <= ' ')
		line.size--;
	if (line.size > 0 && line.data[0] == '[')
		return RECIPE_JSON;
	if (line.size > 0 && line.data[0] == '{')
		return line.data[line.size - 1] == '}' ? RECIPE_JSONL
						       : RECIPE_JSON;
	if (!has_columns && json_control_begins(line))
		return RECIPE_CONTROL;
	if (line.size > 0 && !parts_csv(source) &&
	    memchr(line.data, '\t', line.size) &&
	    !memchr(line.data, ',', line.size))
		return RECIPE_TSV;
	return RECIPE_CSV;
}

/* The characters of the format, unless the recipe says others. */
static void set_characters(struct importer *im)
{
	const struct recipe_source *source = recipe_source(im->recipe);

	im->delimiter = im->by.format == RECIPE_TSV ? '\t' : ',';
	if (source->delimiter != RECIPE_ITS_OWN)
		im->delimiter = source->delimiter;
	im->quote = source->quote;
	/* TSV has no quotes: what would part is escaped. */
	if (im->by.format == RECIPE_TSV || im->by.format == RECIPE_CONTROL)
		im->quote = -1;
	im->comment = source->comment;
}

/* Four bytes begin every text but the shortest. */
#define MARK_SIZE 4
/* So many tell what is of no format, see foreign.h, and whether there are zeros
 * among the first: unless the first line ends before. What comes in pieces is
 * waited for, so that they make no difference. */
#define FOREIGN_SIZE 512
#define ZEROS_SIZE 4096
#define LINE_SIZE 65536

/* UTF-16 or UTF-32 by its mark, or, as most texts begin with two characters of
 * ASCII, by where zeros are in the first bytes; NULL if it is neither. */
static const char *wide_encoding(struct bytes in)
{
	unsigned int zeros = 0;
	size_t i;

	/* UTF-32's mark begins with that of UTF-16. */
	if (bytes_starts_with(in, BYTES_LITERAL("\xff\xfe\0\0")) ||
	    bytes_starts_with(in, BYTES_LITERAL("\0\0\xfe\xff")))
		return "UTF-32";
	if (bytes_starts_with(in, BYTES_LITERAL("\xff\xfe")) ||
	    bytes_starts_with(in, BYTES_LITERAL("\xfe\xff")))
		return "UTF-16";
	if (in.size < MARK_SIZE)
		return NULL;
	for (i = 0; i < MARK_SIZE; i++)
		zeros = zeros << 1 | (in.data[i] == 0);
	switch (zeros) {
	case 5: /* 0101 */
		return "UTF-16LE";
	case 10:
		return "UTF-16BE";
	case 7:
		return "UTF-32LE";
	case 14:
		return "UTF-32BE";
	}
	return NULL;
}

static int wrong_file(const struct importer *im, const char *what,
		      const char *how)
{
	return fail(ERR_bad_argument, "%.*s%s%s%s", (int)im->by.file.size,
		    (char *)im->by.file.data, im->by.file.size > 0 ? ": " : "",
		    what, how);
}

/* What no format is of, by its first bytes. */
static int check_foreign(const struct importer *im, struct bytes in)
{
	const char *kind = foreign_kind(in);
	const char *undone_by = foreign_undone_by(in);

	if (undone_by)
		return wrong_file(im,
				  "it is compressed; tabletfs import undoes "
				  "that, once, and so does ",
				  undone_by);
	return kind ? wrong_file(im, "it is ", kind) : 0;
}

int import_source_mark(struct importer *im, bool final)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
	struct bytes in = bytes_of(im->input.data + im->start,
				   im->input.size - im->start);
	struct bytes line;
	const char *wide;
	size_t first; /* bytes up to the end of the first line */
	int err;

	if (im->marked)
		return 1;
	line = first_line(in);
	first = (size_t)(line.data - in.data) + line.size;
	if (!final && (in.size < MARK_SIZE ||
		       (first == in.size && in.size < FOREIGN_SIZE)))
		return 0;
	wide = wide_encoding(in);
	if (wide)
		return fail(ERR_bad_argument,
			    "%.*s%sit is %s; iconv -f %s -t UTF-8 makes UTF-8 "
			    "of it",
			    (int)im->by.file.size, im->by.file.data,
			    im->by.file.size > 0 ? ": " : "", wide, wide);
	if (first < in.size)
		first++;
	err = check_foreign(im, bytes_of(in.data, first));
	if (err < 0)
		return err;
	im->marked = true;
	/* cbt takes it for a wrong header, and so is it in its form. */
	if (bytes_starts_with(in, bytes_of(mark, sizeof(mark))) &&
	    (im->recipe || im->format != TEXT_CSV))
		im->start += sizeof(mark);
	return 1;
}

/* Whether a CR outside quotes stands in a line where no LF is to follow: the
 * lines of such a file would be one, and that the header. */
static bool has_lone_cr(const struct importer *im, struct bytes line)
{
	bool quoted = false;
	size_t i;

	while (line.size > 0 && line.data[line.size - 1] == '\r')
		line.size--;
	for (i = 0; i < line.size; i++) {
		if (line.data[i] == im->quote)
			quoted = !quoted;
		else if (line.data[i] == '\r' && !quoted)
			return true;
	}
	return false;
}

/* Before the header of CSV or TSV it is known that this is one. */
static bool has_header(const struct importer *im)
{
	return recipe_source(im->recipe)->header == RECIPE_HEADER &&
	       (im->by.format == RECIPE_CSV || im->by.format == RECIPE_TSV);
}

/* Whether there are zeros in the first bytes, as in what is no text, and its
 * first line is no header: of values any byte may be a part. */
static bool is_no_text(const struct importer *im, struct bytes in,
		       struct bytes line)
{
	size_t i;

	if (in.size == 0 ||
	    !memchr(in.data, 0, in.size < ZEROS_SIZE ? in.size : ZEROS_SIZE))
		return false;
	while (line.size > 0 && line.data[line.size - 1] == '\r')
		line.size--;
	for (i = 0; has_header(im) && i < line.size; i++)
		if (line.data[i] < ' ' && line.data[i] != '\t' &&
		    line.data[i] != im->delimiter)
			return true;
	return has_lone_cr(im, line);
}

/* Bytes after which a file's format is known, which begins with in. */
static size_t size_to_tell(const struct recipe_source *source, struct bytes in,
			   struct bytes line)
{
	size_t i;

	if (line.data + line.size == in.data + in.size)
		return LINE_SIZE;
	for (i = 0; i < line.size; i++)
		if (line.data[i] < ' ' && line.data[i] != '\t' &&
		    line.data[i] != source->delimiter)
			break;
	/* Every text's first line ends with CR, if it has one. */
	while (i < line.size && line.data[i] == '\r')
		i++;
	return i < line.size ? ZEROS_SIZE : 0;
}

/* What is not of the file's format. */
static int check_format(const struct importer *im, struct bytes in,
			struct bytes line)
{
	const struct recipe_source *source = recipe_source(im->recipe);

	if (im->by.format != RECIPE_CSV && im->by.format != RECIPE_TSV &&
	    im->by.format != RECIPE_CONTROL)
		return 0;
	if (has_header(im) && source->delimiter != RECIPE_NO_BYTE &&
	    foreign_is_json(line))
		return wrong_file(im, "it begins as JSON: say format=",
				  guess(source, in) == RECIPE_JSONL ? "jsonl"
								    : "json");
	if (is_no_text(im, in, line))
		return wrong_file(im,
				  "it is no text, as zeros are among its "
				  "first bytes; import takes CSV, TSV, JSON "
				  "and control files",
				  "");
	return has_lone_cr(im, line)
		       ? wrong_file(im, "its lines end with CR alone; ",
				    "tr '\\r' '\\n' makes LF of them")
		       : 0;
}

int import_source_look(struct importer *im, bool final)
{
	const struct recipe_source *source = recipe_source(im->recipe);
	struct import_recipe *by = &im->by;
	struct bytes in, line;
	int err;

	if (by->looked)
		return 1;
	err = import_source_mark(im, final);
	if (err <= 0)
		return err;
	in = bytes_of(im->input.data + im->start, im->input.size - im->start);
	if (im->resume.saved.format)
		by->format = (enum recipe_format)im->resume.saved.format;
	line = first_line(in);
	if (!final && in.size < size_to_tell(source, in, line))
		return 0;
	/* Lines with one value each that holds others inside are an array's. */
	if (by->format == RECIPE_UNSAID)
		by->format = guess(source, in);
	else if (by->format == RECIPE_JSON &&
		 guess(source, in) == RECIPE_JSONL &&
		 source->format == RECIPE_UNSAID)
		by->format = RECIPE_JSONL;
	set_characters(im);
	err = check_format(im, in, line);
	if (!err)
		err = import_recipe_begin(im);
	if (err < 0)
		return err;
	by->looked = true;
	return 1;
}
