#include <stdlib.h>

#include "store/text/json/json_result.h"

void json_result_release(struct json_result *r)
{
	while (r->count > 0)
		buf_release(&r->cells[--r->count].bytes);
	free(r->cells);
	buf_release(&r->row);
	*r = (struct json_result)JSON_RESULT_INIT;
}

/* Room for one cell more. */
static int grow(struct json_result *r)
{
	struct json_result_cell *grown;
	size_t room = r->room * 2 + 4;

	if (r->count < r->room)
		return 0;
	grown = realloc(r->cells, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->cells = grown;
	r->room = room;
	return 0;
}

int json_result_add(struct json_result *r, const struct cell *cell)
{
	struct json_result_cell c = { .family_size = cell->family.size,
				      .qualifier_size = cell->qualifier.size,
				      .timestamp_us = cell->timestamp_us,
				      .order = r->count };
	int err = grow(r);

	if (!err)
		err = buf_set(&c.bytes, cell->family);
	if (!err)
		err = buf_add_bytes(&c.bytes, cell->qualifier);
	if (!err)
		err = buf_add_bytes(&c.bytes, cell->value);
	if (!err)
		r->cells[r->count++] = c;
	else
		buf_release(&c.bytes);
	return err;
}

static struct bytes family_of(const struct json_result_cell *c)
{
	return bytes_of(c->bytes.data, c->family_size);
}

static struct bytes qualifier_of(const struct json_result_cell *c)
{
	return bytes_of(c->bytes.data + c->family_size, c->qualifier_size);
}

static int compare_columns(const struct json_result_cell *a,
			   const struct json_result_cell *b)
{
	int order = bytes_compare(family_of(a), family_of(b));

	return order ? order : bytes_compare(qualifier_of(a), qualifier_of(b));
}

/* By column, the last first. */
static int compare_cells(const void *a, const void *b)
{
	const struct json_result_cell *left = a, *right = b;
	int order = compare_columns(left, right);

	return order ? order : left->order < right->order ? 1 : -1;
}

void json_result_settle(struct json_result *r)
{
	size_t i, count = 0;

	if (r->count > 0)
		qsort(r->cells, r->count, sizeof(*r->cells), compare_cells);
	for (i = 0; i < r->count; i++) {
		if (count > 0 &&
		    compare_columns(&r->cells[count - 1], &r->cells[i]) == 0)
			buf_release(&r->cells[i].bytes);
		else
			r->cells[count++] = r->cells[i];
	}
	r->count = count;
}

void json_result_cell(const struct json_result *r, size_t i, struct cell *out)
{
	const struct json_result_cell *c = &r->cells[i];

	assert(i < r->count);
	*out = (struct cell){
		.row = buf_bytes(&r->row),
		.family = family_of(c),
		.qualifier = qualifier_of(c),
		.timestamp_us = c->timestamp_us,
		.value = bytes_after(buf_bytes(&c->bytes),
				     c->family_size + c->qualifier_size),
	};
}
