#include <assert.h>

#include "store/text/import/import_array.h"
#include "store/text/import/import_commit.h"
#include "store/text/import/import_line.h"
#include "store/text/import/import_recipe.h"

/*
 * Records are told apart by their brackets and strings alone; what else is
 * wrong in one refuses it, and the next is taken. Between records im->start
 * stands before what comes next.
 */

static int wrong(const struct importer *im, const char *what)
{
	return import_locate(im, fail(ERR_bad_line, "%s", what));
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void end_array(struct importer *im)
{
	struct import_recipe *by = &im->by;

	by->in_array = false;
	by->array_ended = true;
	by->array_end = im->resume.base + im->start;
	by->array_end_line = im->line;
}

static int no_element(const struct importer *im)
{
	return wrong(im, "an element of the array is missing beside a comma");
}

/* c is no blank. 0 if it stands between records; 1 if it begins one. */
static int take_separator(struct importer *im, uint8_t c)
{
	struct import_recipe *by = &im->by;

	if (c == ']' && by->in_array) {
		if (by->array_last == ARRAY_COMMA)
			return no_element(im);
		end_array(im);
		return 0;
	}
	if (c == '}' || c == ']')
		return wrong(im, "a bracket closes what was not opened");
	if (c < ' ')
		return wrong(im, "a control character stands between records");
	if (c == ',') {
		if (by->in_array && (by->array_last == ARRAY_BEGIN ||
				     by->array_last == ARRAY_COMMA))
			return no_element(im);
		by->array_last = ARRAY_COMMA;
		return 0;
	}
	if (by->in_array && by->array_last == ARRAY_ELEMENT)
		return wrong(im, "a comma between two elements of the array is "
				 "missing");
	return 1;
}

/* Passes over blanks, commas and the array's brackets, and counts lines. 1 with
 * a record at the front; 0 at the end of what there is. */
static int find_record(struct importer *im)
{
	struct import_recipe *by = &im->by;

	for (; im->start < im->input.size; im->start++) {
		uint8_t c = im->input.data[im->start];

		if (c == '\n') {
			im->line++;
			im->line_next = im->line;
		} else if (is_blank(c)) {
			continue;
		} else if (by->array_ended) {
			return wrong(im, "something follows the array, which "
					 "has to be all of the file");
		} else if (c == '[' && !by->in_array) {
			if (by->has_records)
				return wrong(im, "an array begins behind "
						 "records, and has to be all "
						 "of the file");
			by->in_array = true;
			by->array_last = ARRAY_BEGIN;
			by->array_index = 1;
		} else {
			int found = take_separator(im, c);

			if (found)
				return found;
		}
	}
	return 0;
}

/* What a byte of a record does. True at its last one, or behind it with
 * *outside set, as for a number. */
static bool step(struct import_recipe *by, uint8_t c, bool *outside)
{
	*outside = false;
	if (by->in_string) {
		if (by->escaped)
			by->escaped = false;
		else if (c == '\\')
			by->escaped = true;
		else if (c == '"')
			by->in_string = false;
		return !by->in_string && by->depth == 0;
	}
	if (c == '"') {
		by->in_string = true;
	} else if (c == '{' || c == '[') {
		by->depth++;
	} else if (c == '}' || c == ']') {
		*outside = by->depth == 0;
		return by->depth == 0 || --by->depth == 0;
	} else if (by->depth == 0 && (c == ',' || c <= ' ')) {
		*outside = true;
		return true;
	}
	return false;
}

/* The record of im->at bytes at the front. */
static int take_whole(struct importer *im)
{
	struct bytes text = bytes_of(im->input.data + im->start, im->at);
	uint64_t lines = 0;
	size_t i;
	int err;

	assert(im->at > 0);
	for (i = 0; i < text.size; i++)
		lines += text.data[i] == '\n';
	err = import_recipe_json(im, text);
	if (err < 0)
		return err;
	im->line_next = im->line + lines + 1;
	err = import_advance(im, im->at);
	im->by.has_records = true;
	im->by.array_last = ARRAY_ELEMENT;
	im->by.array_index += im->by.array_index > 0;
	/* The next may begin on the same line. */
	im->line--;
	im->line_next = im->line;
	return err;
}

int import_array_rest(const struct importer *im)
{
	const struct import_recipe *by = &im->by;

	if (im->at > 0 && (by->depth > 0 || by->in_string))
		return fail(ERR_bad_line,
			    "the record that begins here has no end");
	return by->in_array ? fail(ERR_bad_line, "the array has no end") : 0;
}

int import_take_array(struct importer *im, bool final)
{
	struct import_recipe *by = &im->by;
	bool outside;
	int err;

	if (im->at == 0) {
		by->depth = 0;
		by->in_string = by->escaped = false;
		err = find_record(im);
		if (err < 0 || (err == 0 && !final))
			return err;
		if (err == 0)
			return import_locate(im, import_array_rest(im));
	}
	for (; im->start + im->at < im->input.size; im->at++) {
		if (!step(by, im->input.data[im->start + im->at], &outside))
			continue;
		im->at += !outside;
		return take_whole(im);
	}
	if (!final)
		return 0;
	if (by->depth > 0 || by->in_string)
		return import_locate(im, import_array_rest(im));
	return take_whole(im);
}
