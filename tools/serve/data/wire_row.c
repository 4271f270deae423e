#include <assert.h>

#include "store/base/coding.h"
#include "tools/serve/data/wire_row.h"
#include "tools/serve/proto/messages.h"

/*
 * Written by hand and from its end, as a message is behind its size: what
 * follows is there by then. All numbers of fields here are below 16, so that a
 * tag is one byte.
 */
#define TAG_SIZED(number) ((uint8_t)((number) << 3 | 2))
#define TAG_NUMBER(number) ((uint8_t)((number) << 3))

/* What has been put together, from its end: so many bytes, behind the byte that
 * end stands for; NULL: they are counted alone. */
struct backward {
	uint8_t *end;
	size_t size;
};

static void put_bytes(struct backward *b, struct bytes from)
{
	b->size += from.size;
	/* A value is here, at this place or before it. */
	if (b->end && from.size > 0)
		memmove(b->end - b->size, from.data, from.size);
}

static void put_number(struct backward *b, uint64_t v)
{
	b->size += varint_size(v);
	if (b->end)
		put_varint(b->end - b->size, v);
}

static void put_tag(struct backward *b, uint8_t tag)
{
	b->size++;
	if (b->end)
		*(b->end - b->size) = tag;
}

/* Before what came after there were so many bytes: a message of its own. */
static void wrap(struct backward *b, uint8_t number, size_t before)
{
	put_number(b, b->size - before);
	put_tag(b, TAG_SIZED(number));
}

static void put_field(struct backward *b, uint8_t number, struct bytes from)
{
	size_t before = b->size;

	if (from.size == 0)
		return;
	put_bytes(b, from);
	wrap(b, number, before);
}

static void put_cell(struct backward *b, uint64_t timestamp_us,
		     struct bytes value)
{
	size_t before = b->size;

	put_field(b, nr_cell_value, value);
	if (timestamp_us > 0) {
		put_number(b, timestamp_us);
		put_tag(b, TAG_NUMBER(nr_cell_timestamp_micros));
	}
	wrap(b, nr_column_cells, before);
}

static size_t all_values(const struct cell *cells, size_t count)
{
	size_t i, size = 0;

	for (i = 0; i < count; i++)
		size += cells[i].value.size;
	return size;
}

/* The values are at values, and are moved to the end. */
static void put_row(struct backward *b, struct bytes key,
		    const struct cell *cells, size_t count,
		    const uint8_t *values)
{
	size_t before = b->size, family = b->size, column, i;
	size_t at = all_values(cells, count);

	for (i = count; i-- > 0;) {
		const struct cell *cell = &cells[i];

		at -= cell->value.size;
		column = b->size;
		put_cell(b, cell->timestamp_us,
			 bytes_of(values + at, cell->value.size));
		put_field(b, nr_column_qualifier, cell->qualifier);
		wrap(b, nr_family_columns, column);
		if (i > 0 && bytes_equal(cells[i - 1].family, cell->family))
			continue;
		put_field(b, nr_family_name, cell->family);
		wrap(b, nr_row_families, family);
		family = b->size;
	}
	put_field(b, nr_row_key, key);
	wrap(b, nr_read_modify_write_row_answer_row, before);
}

int wire_row(struct bytes key, const struct cell *cells, size_t count,
	     struct buf *memory)
{
	struct backward counted = { NULL, 0 }, b;
	int err;

	assert(memory->size == all_values(cells, count));
	put_row(&counted, key, cells, count, memory->data);
	err = buf_fit(memory, counted.size);
	if (err < 0)
		return err;
	b = (struct backward){ memory->data + counted.size, 0 };
	put_row(&b, key, cells, count, memory->data);
	assert(b.size == counted.size);
	memory->size = b.size;
	return 0;
}
