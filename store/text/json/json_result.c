#include <stdlib.h>

#include "store/text/json/json_result.h"

static void cell_release(struct json_result_cell *c)
{
	buf_release(&c->bytes);
	large_put(c->large);
}

void json_result_release(struct json_result *r)
{
	while (r->count > 0)
		cell_release(&r->cells[--r->count]);
	free(r->cells);
	buf_release(&r->row);
	*r = (struct json_result)JSON_RESULT_INIT;
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

/* Leaves the last of each column, in scan order. */
static void drop_older(struct json_result *r)
{
	size_t i, count = 0;

	if (r->count > 0)
		qsort(r->cells, r->count, sizeof(*r->cells), compare_cells);
	for (i = 0; i < r->count; i++) {
		if (count > 0 &&
		    compare_columns(&r->cells[count - 1], &r->cells[i]) == 0)
			cell_release(&r->cells[i]);
		else
			r->cells[count++] = r->cells[i];
	}
	r->count = count;
}

/* Room for one cell more. What is older goes first, so that there are not more
 * than twice as many as columns. */
static int grow(struct json_result *r)
{
	struct json_result_cell *grown;
	size_t room = r->room * 2 + 4;

	if (r->count < r->room)
		return 0;
	drop_older(r);
	if (r->count * 2 < r->room)
		return 0;
	grown = realloc(r->cells, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->cells = grown;
	r->room = room;
	return 0;
}

int json_result_add(struct json_result *r, const struct cell *cell,
		    struct large *large)
{
	struct json_result_cell c = { .family_size = cell->family.size,
				      .qualifier_size = cell->qualifier.size,
				      .timestamp_us = cell->timestamp_us,
				      .order = r->added++,
				      .large = large };
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
		cell_release(&c);
	return err;
}

int json_result_settle(struct json_result *r)
{
	size_t i;
	int err = 0;

	drop_older(r);
	for (i = 0; i < r->count && !err; i++) {
		struct json_result_cell *c = &r->cells[i];

		if (!c->large)
			continue;
		err = buf_fit(&c->bytes,
			      c->bytes.size + (size_t)large_size(c->large));
		if (!err)
			err = large_load(c->large, &c->bytes);
		large_put(c->large);
		c->large = NULL;
	}
	return err;
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
