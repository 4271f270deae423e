#include <assert.h>

#include "store/text/recipe/row_json.h"
#include "store/text/value/json_text.h"
#include "store/text/value/number.h"
#include "store/text/value/utf8.h"

static int add_timestamp(uint64_t us, struct buf *out)
{
	int err = buf_add_string(out, ", \"timestamp\": ");

	if (!err)
		err = print_u64(us, 1, out);
	return err < 0 ? err : buf_add_byte(out, '}');
}

/* {"value": 1, "timestamp": 2}, for without a time it would go to the newest
 * version, which has to be read. */
static int add_number(const struct recipe_cell *c, struct buf *out)
{
	int err = buf_printf(out, "{\"value\": %lld", (long long)c->number);

	return err < 0 ? err : add_timestamp(c->us, out);
}

static int add_value(const struct recipe_cell *c, struct buf *out)
{
	bool text = utf8_valid(c->value);
	int err;

	if (text && !c->timed)
		return json_text_string(c->value, out);
	err = buf_add_byte(out, '{');
	if (!err && text)
		err = buf_add_string(out, "\"value\": ");
	if (!err)
		err = text ? json_text_string(c->value, out)
			   : json_text_base64(c->value, out);
	if (err < 0)
		return err;
	return c->timed ? add_timestamp(c->us, out) : buf_add_byte(out, '}');
}

/* Cells of one column stand side by side: more than one only if they are
 * added. */
static size_t column_size(const struct recipe_cell *c, size_t count)
{
	size_t n = 1;

	while (n < count && bytes_equal(c[n].family, c->family) &&
	       bytes_equal(c[n].qualifier, c->qualifier))
		n++;
	return n;
}

static int add_column(const struct recipe_cell *c, size_t count,
		      struct buf *out)
{
	size_t i;
	int err = json_text_qualifier(c->qualifier, out);

	assert(count == 1 || c->add);
	if (!err)
		err = buf_add_string(out, count > 1 ? ": [" : ": ");
	for (i = 0; !err && i < count; i++) {
		if (i > 0)
			err = buf_add_string(out, ", ");
		if (!err)
			err = c->add ? add_number(&c[i], out)
				     : add_value(&c[i], out);
	}
	return err < 0 || count == 1 ? err : buf_add_byte(out, ']');
}

/* The families of what is set, or of what is added. */
static int add_cells(const struct recipe_cell *c, size_t count, struct buf *out)
{
	size_t i = 0;
	int err = 0;

	while (!err && i < count) {
		bool same = i > 0 && bytes_equal(c[i].family, c[i - 1].family);
		size_t n = column_size(c + i, count - i);

		if (i > 0)
			err = buf_add_string(out, same ? ", " : "}, ");
		if (!err && !same)
			err = json_text_string(c[i].family, out);
		if (!err && !same)
			err = buf_add_string(out, ": {");
		if (!err)
			err = add_column(c + i, n, out);
		i += n;
	}
	return err < 0 ? err : buf_add_byte(out, '}');
}

int row_json(const struct recipe_row *row, struct buf *out)
{
	size_t sets = 0, adds;
	int err = buf_add_string(out, "{\"row\": ");

	while (sets < row->cell_count && !row->cells[sets].add)
		sets++;
	adds = row->cell_count - sets;
	if (!err)
		err = json_text_key(row->key, out);
	if (!err && sets > 0) {
		err = buf_add_string(out, ", \"set\": {");
		if (!err)
			err = add_cells(row->cells, sets, out);
		if (!err)
			err = buf_add_byte(out, '}');
	}
	if (!err && adds > 0) {
		err = buf_add_string(out, ", \"add\": {");
		if (!err)
			err = add_cells(row->cells + sets, adds, out);
		if (!err)
			err = buf_add_byte(out, '}');
	}
	return err < 0 ? err : buf_add_string(out, "}\n");
}
