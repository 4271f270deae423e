#include <assert.h>
#include <stdlib.h>

#include "store/text/import/import_commit.h"
#include "store/text/import/import_recipe.h"
#include "store/text/import/import_rows.h"
#include "store/text/import/import_state.h"
#include "store/text/value/number.h"

/*
 * What a CSV or TSV record means: cbt import's headers and rows.
 *
 *   ,cars,,planes          families; one covers the empty fields behind it
 *   ,doors,wheels,wings    qualifiers
 *   row1,4,4,              a row with the cells cars:doors and cars:wheels
 *
 * With options.family the first record is not there. A wrong header ends the
 * import, for without it no row has a meaning. Messages are cbt's.
 */

/* A field of the present record; good until more input comes. */
static struct bytes field(const struct importer *im, size_t i)
{
	assert(i < im->field_count && i < im->field_capacity);
	return bytes_of(im->input.data + im->start + im->fields[i].offset,
			im->fields[i].size);
}

int import_field_add(struct importer *im, size_t offset, size_t size,
		     bool quoted)
{
	if (im->field_count < im->field_max) {
		if (im->field_count == im->field_capacity) {
			size_t capacity = im->field_capacity * 2 + 16;
			struct import_field *fields =
				realloc(im->fields, capacity * sizeof(*fields));

			if (!fields)
				return -ENOMEM;
			im->fields = fields;
			im->field_capacity = capacity;
		}
		im->fields[im->field_count] =
			(struct import_field){ offset, size, quoted };
	}
	im->field_count++;
	return 0;
}

static int header_failed(const char *why)
{
	return fail(ERR_bad_line, "error parsing headers: %s", why);
}

/* What both headers must have: an empty first field, which stands over the row
 * keys, and a second that is not. */
static int check_header(const struct importer *im)
{
	if (field(im, 0).size > 0)
		return header_failed("the first column must be empty for "
				     "column-family and column name rows; of a "
				     "file with one header say key=, as "
				     "key='{id}' rest=FAMILY");
	if (im->field_count < 2 || field(im, 1).size == 0)
		return header_failed("the second column (first data column) "
				     "must have values for column family and "
				     "column name rows if present");
	return 0;
}

/* Keeps the header's fields in header_text, behind what is there already; the
 * input is gone by the next record. */
static int keep_header(struct importer *im)
{
	size_t i;
	int err = 0;

	for (i = 1; !err && i < im->field_count; i++)
		err = buf_add_bytes(&im->header_text, field(im, i));
	return err;
}

/* By the first header there is: makes as many columns as it has fields, and
 * from here on keeps so many of each record, the row key included. */
static int columns_new(struct importer *im)
{
	if (im->field_count > im->field_max)
		return header_failed("more than 100000 columns");
	im->columns = calloc(im->field_count, sizeof(*im->columns));
	if (!im->columns)
		return -ENOMEM;
	im->column_count = im->field_count - 1;
	im->field_max = im->field_count;
	return 0;
}

/* The first header. A family that is empty is that of the column before. */
static int take_families(struct importer *im)
{
	size_t i;
	int err = check_header(im);

	if (!err)
		err = columns_new(im);
	if (!err)
		err = keep_header(im);
	if (err < 0)
		return err;
	/* Sizes first: header_text may still move. */
	for (i = 0; i < im->column_count; i++)
		im->columns[i].family.size = field(im, i + 1).size;
	im->header = HEADER_COLUMNS;
	return 0;
}

/* Points the columns into header_text, which moves no more: families first, if
 * they are there, by the sizes that take_families left; then the qualifiers of
 * the present record. An empty family is that of the column to its left; of the
 * first one it is never empty. */
static void place_columns(struct importer *im)
{
	const uint8_t *text = im->header_text.data;
	struct bytes family = buf_bytes(&im->family);
	size_t i;

	for (i = 0; i < im->column_count && im->family.size == 0; i++) {
		size_t size = im->columns[i].family.size;

		if (size > 0)
			family = bytes_of(text, size);
		text += size;
		im->columns[i].family = family;
	}
	for (i = 0; i < im->column_count; i++) {
		size_t size = field(im, i + 1).size;

		if (im->family.size > 0)
			im->columns[i].family = family;
		im->columns[i].qualifier = bytes_of(text, size);
		text += size;
	}
}

/* The header of qualifiers, which is the only one with options.family. */
static int take_columns(struct importer *im)
{
	int err = check_header(im);

	if (!err && !im->columns)
		err = columns_new(im);
	if (!err && im->field_count != im->column_count + 1)
		err = fail(ERR_bad_line,
			   "error parsing headers: columns header reader "
			   "error:record on line %llu: wrong number of fields",
			   (unsigned long long)im->line);
	if (!err)
		err = keep_header(im);
	if (err < 0)
		return err;
	place_columns(im);
	im->header = HEADER_DONE;
	return 0;
}

/* Cuts "@<timestamp>" from the end of a value; without one the time is now, as
 * for -1, which is how cbt names the server's time. What follows the last @ and
 * is no integer is part of the value. */
static int take_timestamp(const struct importer *im, struct bytes *value,
			  uint64_t *us)
{
	const uint8_t *at;
	int64_t number;

	*us = im->now_us;
	at = im->value_timestamps ? memrchr(value->data, '@', value->size)
				  : NULL;
	if (!at)
		return 0;
	if (!int_parse_go(
		    bytes_of(at + 1,
			     (size_t)(value->data + value->size - at) - 1),
		    &number))
		return 0;
	value->size = (size_t)(at - value->data);
	if (number < -1)
		return fail(ERR_bad_timestamp, "invalid timestamp %lld",
			    (long long)number);
	if (number >= 0)
		*us = (uint64_t)number;
	return 0;
}

/* For import_add_row: one set for each field that is not empty. A row without
 * any adds nothing. */
static int add_row(struct importer *im)
{
	size_t i;
	int err = write_row(im->w, buf_bytes(&im->table), field(im, 0));

	for (i = 0; !err && i < im->column_count; i++) {
		struct bytes value = field(im, i + 1);
		uint64_t us;

		if (value.size == 0)
			continue;
		err = take_timestamp(im, &value, &us);
		if (!err)
			err = write_set(im->w, im->columns[i].family,
					im->columns[i].qualifier, us, value);
	}
	return err;
}

/* A record without a key: cbt skips it, with a word in its log. It is refused
 * unless nothing is lost with it. */
static int skip_row(struct importer *im)
{
	size_t i;

	for (i = 1; i < im->field_count; i++) {
		if (im->fields[i].size == 0)
			continue;
		if (im->strict)
			break;
		return import_refuse(
			im, fail(ERR_row_key_empty, "RowKey not present"));
	}
	return 1;
}

/* A record of data with a wrong number of fields is refused; cbt stops, and so
 * does a strict import, in its words. */
int import_record(struct importer *im)
{
	int err;

	assert(im->field_count > 0);
	if (im->recipe)
		return import_recipe_record(im);
	if (im->header == HEADER_FAMILIES || im->header == HEADER_COLUMNS) {
		err = im->header == HEADER_FAMILIES ? take_families(im)
						    : take_columns(im);
		return err < 0 ? err : 1;
	}
	if (im->field_count != im->column_count + 1) {
		if (im->strict)
			return fail(ERR_bad_line,
				    "record on line %llu: wrong number of "
				    "fields",
				    (unsigned long long)im->line);
		return import_refuse(im, fail(ERR_bad_line,
					      "wrong number of fields: %zu "
					      "instead of %zu",
					      im->field_count,
					      im->column_count + 1));
	}
	if (field(im, 0).size == 0)
		return skip_row(im);
	return import_add_row(im, add_row);
}
