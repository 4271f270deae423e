#include <assert.h>
#include <stdio.h>

#include "store/text/import/import_commit.h"
#include "store/text/import/import_csv.h"
#include "store/text/import/import_line.h"
#include "store/text/import/import_raw.h"
#include "store/text/import/import_rows.h"
#include "store/text/import/import_state.h"

/*
 * CSV as Go's encoding/csv reads it, which is RFC 4180 with LF or CR LF, blank
 * lines skipped and CR LF inside quotes read as LF. The state between two
 * pieces of input is in struct importer, so that no byte is scanned twice.
 *
 * The functions take_* are the states of enum csv_state. Each takes what it can
 * from im->at on and returns 2 if another state goes on, or else what
 * import_take_csv returns.
 */

#define MISSING_QUOTE "extraneous or missing \" in quoted-field"

/* A word whose byte has its top bit set where word has the given one: the
 * lowest such byte is right, and those above it may be wrong. */
static uint64_t has_byte(uint64_t word, uint8_t byte)
{
	uint64_t x = word ^ UINT64_C(0x0101010101010101) * byte;

	return (x - UINT64_C(0x0101010101010101)) & ~x &
	       UINT64_C(0x8080808080808080);
}

/* The first delimiter, quote or newline of [p, end); end if there is none. */
static const uint8_t *find_special(const struct importer *im, const uint8_t *p,
				   const uint8_t *end)
{
	/* In place of what there is not: what is looked for anyway. */
	uint8_t delimiter = im->delimiter < 0 ? '\n' : (uint8_t)im->delimiter;
	uint8_t quote = im->quote < 0 ? '\n' : (uint8_t)im->quote;

	while (end - p >= 8) {
		uint64_t word, hits;

		/* p need not be aligned. */
		memcpy(&word, p, 8);
		hits = has_byte(word, delimiter) | has_byte(word, quote) |
		       has_byte(word, '\n');
		/* The lowest hit is exact; a borrow can only add later ones. */
		if (hits)
			return p + __builtin_ctzll(hits) / 8;
		p += 8;
	}
	while (p < end && *p != delimiter && *p != quote && *p != '\n')
		p++;
	return p;
}

/* Counts the line ends in a quoted field and finds where its last line
 * begins; true if there are any. */
static bool count_lines(struct importer *im, size_t from, size_t to)
{
	const uint8_t *base = im->input.data + im->start;
	const uint8_t *p = base + from, *end = base + to;
	bool any = false;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		p++;
		im->csv_lines++;
		im->csv_line_at = (size_t)(p - base);
		any = true;
	}
	return any;
}

/* Undoubles quotes and, as cbt does, turns CR LF into LF, in place; returns the
 * new size. The bytes after it are never looked at again: the record goes on
 * behind them. */
static size_t compact(const struct importer *im, uint8_t *data, size_t size)
{
	bool join = !im->recipe;

	const uint8_t *in = data, *end = data + size;
	uint8_t *out = data;

	while (in < end) {
		if (end - in > 1 &&
		    ((in[0] == im->quote && in[1] == im->quote) ||
		     (join && in[0] == '\r' && in[1] == '\n')))
			in++;
		*out++ = *in++;
	}
	return (size_t)(out - data);
}

/* Ends the quoted field whose closing quote is at offset close from im->start.
 * It is rewritten only if there is something to: most are taken as they are. */
static int end_quoted(struct importer *im, size_t close)
{
	uint8_t *data = im->input.data + im->start + im->csv_begin;
	size_t size = close - im->csv_begin;
	bool lines = count_lines(im, im->csv_begin, close);
	int err;

	if (im->csv_doubled || lines) {
		err = import_raw_keep(im, im->csv_begin, size);
		if (err < 0)
			return err;
		size = compact(im, data, size);
	}
	return import_field_add(im, im->csv_begin, size, true);
}

/* Ends the record, which takes size bytes with its line end, and does what it
 * says. Its error ends the import, so where the input stands then does not
 * matter. */
static int end_record(struct importer *im, size_t size)
{
	int err = 1;

	assert(im->field_count > 0);
	im->line_next = im->line + im->csv_lines + 1;
	/* A blank line: one field, empty and at the very front, for "" begins
	 * behind its quote. */
	if (im->field_count != 1 || im->fields[0].size > 0 ||
	    im->fields[0].offset > 0)
		err = import_record(im);
	/* A record that ends an import by a recipe is not among what is in. */
	if (err >= 0)
		err = import_advance(im, size);
	else if (!im->recipe)
		import_advance(im, size);
	im->csv = CSV_FIELD;
	im->field_count = 0;
	im->csv_lines = 0;
	im->csv_line_at = 0;
	return err;
}

/* What a refusal tells beside the record's first line. */
static int describe(const struct importer *im, unsigned long long line,
		    size_t column, const char *why)
{
	char place[40] = "";
	struct bytes name = BYTES_NONE;

	if (im->csv_lines > 0)
		snprintf(place, sizeof(place), "line %llu, ", line);
	if (im->recipe && im->field_count < im->by.name_count)
		name = im->by.names[im->field_count];
	if (name.size == 0)
		return fail(ERR_bad_line, "%scolumn %zu: %s", place, column,
			    why);
	return fail(ERR_bad_line, "field \"%.*s\", %scolumn %zu: %s",
		    (int)name.size, name.data, place, column, why);
}

/* An error at an offset from im->start: the rest of its line is skipped, the
 * record refused; in a header or if strict the import ends. Messages are Go's,
 * of which a refused line repeats only what the line's number does not say. */
static int bad_record(struct importer *im, size_t offset, const char *why)
{
	unsigned long long line = im->line + im->csv_lines;
	size_t column = offset - im->csv_line_at + 1;
	int err;

	im->csv = CSV_SKIP;
	im->at = offset;
	if (im->recipe || (!im->strict && im->header == HEADER_DONE)) {
		err = describe(im, line, column, why);
		return im->header == HEADER_DONE ? import_refuse(im, err)
						 : import_locate(im, err);
	}
	if (im->csv_lines > 0)
		return fail(ERR_bad_line,
			    "record on line %llu; parse error on line %llu, "
			    "column %zu: %s",
			    (unsigned long long)im->line, line, column, why);
	return fail(ERR_bad_line, "parse error on line %llu, column %zu: %s",
		    line, column, why);
}

/* Skips the rest of a refused line and begins anew behind it. Until its end
 * comes the input is dropped, so that a line without end takes no memory. */
static int skip_line(struct importer *im, bool final)
{
	const uint8_t *base = im->input.data + im->start;
	size_t size = im->input.size - im->start;
	const uint8_t *end = NULL;
	int err;

	if (size > im->at)
		end = memchr(base + im->at, '\n', size - im->at);
	if (!end && !final) {
		/* Nothing of it is needed any more. */
		err = import_raw_pass(im, size, false);
		im->resume.dropped += size;
		im->start = im->input.size;
		im->at = 0;
		return err;
	}
	if (end)
		size = (size_t)(end - base) + 1;
	im->line_next = im->line + im->csv_lines + 1;
	err = import_advance(im, size);
	im->csv = CSV_FIELD;
	im->field_count = 0;
	im->csv_lines = 0;
	im->csv_line_at = 0;
	return err;
}

/* In a field without quotes, at im->at: up to a comma or the line's end. A CR
 * before the end belongs to the end. 2: another field follows. */
static int take_plain(struct importer *im, bool final)
{
	const uint8_t *base = im->input.data + im->start;
	const uint8_t *end = im->input.data + im->input.size;
	const uint8_t *p = find_special(im, base + im->at, end);
	size_t at = (size_t)(p - base), size = at - im->csv_begin;
	int err;

	im->at = at;
	if (p == end && !final)
		return 0;
	if (p < end && *p == im->quote)
		return bad_record(im, at, "bare \" in non-quoted-field");
	if ((p == end || *p == '\n') && size > 0 && p[-1] == '\r')
		size--;
	err = import_field_add(im, im->csv_begin, size, false);
	if (err < 0)
		return err;
	if (p == end || *p == '\n')
		return end_record(im, at + (p < end));
	im->at++;
	im->csv = CSV_FIELD;
	return 2;
}

/* After a quote in a quoted field: it ends the field, by a comma or the line's
 * end, or is doubled. A CR may be the first half of a line's end, so it waits
 * for what follows. */
static int take_quote(struct importer *im, bool final)
{
	const uint8_t *base = im->input.data + im->start;
	size_t left = im->input.size - im->start - im->at;
	const uint8_t *p = base + im->at;
	size_t close = im->at - 1;
	int err;

	if (left == 0 && !final)
		return 0;
	if (left > 0 && *p == im->quote) {
		im->csv_doubled = true;
		im->csv = CSV_QUOTED;
		im->at++;
		return 2;
	}
	if (left == 1 && *p == '\r' && !final)
		return 0;
	err = end_quoted(im, close);
	if (err < 0)
		return err;
	if (left > 0 && *p == im->delimiter) {
		im->csv = CSV_FIELD;
		im->at++;
		return 2;
	}
	if (left == 0 || *p == '\n')
		return end_record(im, im->at + (left > 0));
	if (*p == '\r' && (left == 1 || p[1] == '\n'))
		return end_record(im, im->at + (left > 1 ? 2 : 1));
	return bad_record(im, close, MISSING_QUOTE);
}

int import_csv_rest(struct importer *im)
{
	size_t size = im->input.size - im->start, line_at = im->csv_line_at;
	uint64_t lines = im->csv_lines;
	int err;

	if (im->csv != CSV_QUOTED)
		return 0;
	count_lines(im, im->csv_begin, size);
	err = describe(im, im->line + im->csv_lines, size - im->csv_line_at + 1,
		       MISSING_QUOTE);
	im->csv_lines = lines;
	im->csv_line_at = line_at;
	return err;
}

/* In a quoted field: everything up to a quote is content. At the end of input
 * the quote is missing. */
static int take_quoted(struct importer *im, bool final)
{
	const uint8_t *base = im->input.data + im->start;
	size_t size = im->input.size - im->start;
	const uint8_t *quote = NULL;

	if (size > im->at)
		quote = memchr(base + im->at, im->quote, size - im->at);
	if (!quote) {
		im->at = size;
		if (!final)
			return 0;
		count_lines(im, im->csv_begin, size);
		return bad_record(im, size, MISSING_QUOTE);
	}
	im->at = (size_t)(quote - base) + 1;
	im->csv = CSV_QUOTE;
	return 2;
}

/* Before a field. An empty input begins no record at its end, but after a comma
 * an empty field follows. */
static int take_field(struct importer *im, bool final)
{
	size_t size = im->input.size - im->start;

	if (size == im->at && (!final || im->at == 0))
		return 0;
	if (size > 0 && im->at == 0 &&
	    im->input.data[im->start] == im->comment) {
		im->csv = CSV_SKIP;
		return 2;
	}
	im->csv = CSV_PLAIN;
	im->csv_begin = im->at;
	im->csv_doubled = false;
	if (size > im->at && im->input.data[im->start + im->at] == im->quote) {
		im->csv = CSV_QUOTED;
		im->csv_begin = ++im->at;
	}
	return 2;
}

int import_take_csv(struct importer *im, bool final)
{
	int err = 2;

	while (err == 2) {
		switch (im->csv) {
		case CSV_FIELD:
			err = take_field(im, final);
			break;
		case CSV_PLAIN:
			err = take_plain(im, final);
			break;
		case CSV_QUOTED:
			err = take_quoted(im, final);
			break;
		case CSV_QUOTE:
			err = take_quote(im, final);
			break;
		case CSV_SKIP:
			err = skip_line(im, final);
			break;
		}
	}
	return err;
}
