#include <stdlib.h>

#include "tools/data/wide.h"

/* A column, and its field of the present row. */
struct wide_column {
	struct buf name;  /* family:qualifier; no family has a colon */
	struct buf field; /* as it is written */
	bool has_field;   /* else it is absent */
};

struct wide {
	struct print_fields how;
	struct wide_column **columns; /* in the order of the fields; owned */
	struct wide_column **sorted;  /* the same, ascending by name */
	size_t count;
	struct buf row; /* of the present row; empty: none */
	struct buf name;
	bool has_field; /* the present row has one */
	size_t size;    /* of its fields */
};

/* What a field keeps for the next row. */
#define FIELD_KEPT_SIZE ((size_t)64 << 10)

int wide_new(const struct print_fields *how, struct wide **out)
{
	struct wide *w = calloc(1, sizeof(*w));

	*out = w;
	if (!w)
		return -ENOMEM;
	w->how = *how;
	w->columns = calloc(WIDE_COLUMNS_MAX, sizeof(struct wide_column *));
	w->sorted = calloc(WIDE_COLUMNS_MAX, sizeof(struct wide_column *));
	if (w->columns && w->sorted)
		return 0;
	wide_free(w);
	*out = NULL;
	return -ENOMEM;
}

void wide_free(struct wide *w)
{
	size_t i;

	if (!w)
		return;
	for (i = 0; i < w->count; i++) {
		buf_release(&w->columns[i]->name);
		buf_release(&w->columns[i]->field);
		free(w->columns[i]);
	}
	free(w->columns);
	free(w->sorted);
	buf_release(&w->row);
	buf_release(&w->name);
	free(w);
}

/* Where the column of w->name stands in sorted, or would. */
static size_t find(const struct wide *w, bool *found)
{
	size_t low = 0, high = w->count;

	*found = false;
	while (low < high && !*found) {
		size_t middle = low + (high - low) / 2;
		int order = bytes_compare(buf_bytes(&w->sorted[middle]->name),
					  buf_bytes(&w->name));

		*found = order == 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return high;
}

/* Sets w->name. */
static int make_name(struct wide *w, struct bytes family,
		     struct bytes qualifier)
{
	int err = buf_set(&w->name, family);

	if (!err)
		err = buf_add_byte(&w->name, ':');
	return err < 0 ? err : buf_add_bytes(&w->name, qualifier);
}

int wide_add(struct wide *w, struct bytes family, struct bytes qualifier,
	     bool *added)
{
	struct wide_column *column;
	int err = make_name(w, family, qualifier);
	bool found;
	size_t at;

	if (err < 0)
		return err;
	at = find(w, &found);
	*added = !found;
	if (found)
		return 0;
	if (w->count == WIDE_COLUMNS_MAX)
		return fail(ERR_bad_argument,
			    "there are more than %d columns; choose some by "
			    "columns=, or say layout=long",
			    WIDE_COLUMNS_MAX);
	column = calloc(1, sizeof(*column));
	if (!column || buf_set(&column->name, buf_bytes(&w->name)) < 0) {
		free(column);
		return -ENOMEM;
	}
	memmove(w->sorted + at + 1, w->sorted + at,
		(w->count - at) * sizeof(struct wide_column *));
	w->sorted[at] = w->columns[w->count++] = column;
	return 0;
}

void wide_sort(struct wide *w)
{
	memcpy(w->columns, w->sorted, w->count * sizeof(struct wide_column *));
}

int wide_header(const struct wide *w, struct buf *out)
{
	int err = buf_add_string(out, "row");
	size_t i;

	for (i = 0; !err && i < w->count; i++) {
		err = buf_add_byte(out, print_delimiter(&w->how));
		if (!err)
			err = print_header_field(
				&w->how, buf_bytes(&w->columns[i]->name), out);
	}
	return err < 0 ? err : buf_add_byte(out, '\n');
}

int wide_finish(struct wide *w, struct buf *out)
{
	int err = 0;
	size_t i;

	if (!w->has_field)
		return 0;
	err = print_field(&w->how, buf_bytes(&w->row), out);
	for (i = 0; !err && i < w->count; i++) {
		struct wide_column *column = w->columns[i];

		err = buf_add_byte(out, print_delimiter(&w->how));
		if (!err && column->has_field)
			err = buf_add_bytes(out, buf_bytes(&column->field));
		column->has_field = false;
		if (column->field.capacity > FIELD_KEPT_SIZE)
			buf_release(&column->field);
	}
	w->has_field = false;
	w->size = 0;
	return err < 0 ? err : buf_add_byte(out, '\n');
}

int wide_cell(struct wide *w, const struct cell *c, struct buf *out)
{
	struct wide_column *column;
	bool found;
	size_t at;
	int err = 0;

	if (!bytes_equal(buf_bytes(&w->row), c->row)) {
		err = wide_finish(w, out);
		if (!err)
			err = buf_set(&w->row, c->row);
	}
	if (!err)
		err = make_name(w, c->family, c->qualifier);
	if (err < 0)
		return err;
	at = find(w, &found);
	if (!found || w->sorted[at]->has_field)
		return 0;
	column = w->sorted[at];
	w->has_field = column->has_field = true;
	buf_reset(&column->field);
	err = print_value_field(&w->how, c, &column->field);
	w->size += column->field.capacity;
	return err;
}

size_t wide_size(const struct wide *w)
{
	return w->size;
}
