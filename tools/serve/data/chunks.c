#include "store/base/coding.h"
#include "tools/serve/data/chunks.h"
#include "tools/serve/proto/messages.h"

/*
 * Written by hand, and not by proto_encode, as a scan makes little else. All
 * numbers of fields here are below 16, so that a tag is one byte.
 */
#define TAG_SIZED(number) ((uint8_t)((number) << 3 | 2))
#define TAG_NUMBER(number) ((uint8_t)((number) << 3))
/* What commits a row: its tag, and true. */
#define COMMIT_SIZE 2

_Static_assert(nr_cell_chunk_commit_row < 16, "a tag is one byte");

void chunks_release(struct chunks *c)
{
	buf_release(&c->message);
	buf_release(&c->names);
}

bool chunks_same_row(const struct chunks *c, struct bytes row)
{
	return c->in_row &&
	       bytes_equal(bytes_of(c->names.data, c->row_size), row);
}

/* How much of a chunk a cell's names take, and which of them it says. */
struct head {
	bool row, family, qualifier;
};

static struct head look(const struct chunks *c, const struct cell *cell)
{
	struct bytes family, qualifier;
	struct head h = { true, true, true };

	if (!chunks_same_row(c, cell->row))
		return h;
	h.row = false;
	family = bytes_of(c->names.data + c->row_size, c->family_size);
	h.family = !bytes_equal(family, cell->family);
	qualifier =
		bytes_after(buf_bytes(&c->names), c->row_size + c->family_size);
	/* A family begins anew with a qualifier. */
	h.qualifier = h.family || !bytes_equal(qualifier, cell->qualifier);
	return h;
}

static size_t sized(struct bytes b)
{
	return 1 + varint_size(b.size) + b.size;
}

/* A name in a message of its own, of which it is field 1. */
static size_t wrapped(struct bytes b)
{
	size_t size = b.size > 0 ? sized(b) : 0;

	return 1 + varint_size(size) + size;
}

static uint8_t *put_sized(uint8_t *p, uint8_t number, struct bytes b)
{
	*p++ = TAG_SIZED(number);
	p = put_varint(p, b.size);
	if (b.data && b.size > 0)
		memcpy(p, b.data, b.size);
	return p + b.size;
}

static uint8_t *put_wrapped(uint8_t *p, uint8_t number, struct bytes b)
{
	*p++ = TAG_SIZED(number);
	p = put_varint(p, b.size > 0 ? sized(b) : 0);
	return b.size > 0 ? put_sized(p, nr_string_value_value, b) : p;
}

static size_t chunk_size(const struct head *h, const struct cell *cell,
			 struct bytes label)
{
	return (h->row ? sized(cell->row) : 0) +
	       (h->family ? wrapped(cell->family) : 0) +
	       (h->qualifier ? wrapped(cell->qualifier) : 0) +
	       (cell->timestamp_us > 0 ? 1 + varint_size(cell->timestamp_us)
				       : 0) +
	       (label.size > 0 ? sized(label) : 0) +
	       (cell->value.size > 0 ? sized(cell->value) : 0);
}

static uint8_t *put_chunk(uint8_t *p, const struct head *h,
			  const struct cell *cell, struct bytes label)
{
	if (h->row)
		p = put_sized(p, nr_cell_chunk_row_key, cell->row);
	if (h->family)
		p = put_wrapped(p, nr_cell_chunk_family_name, cell->family);
	if (h->qualifier)
		p = put_wrapped(p, nr_cell_chunk_qualifier, cell->qualifier);
	if (cell->timestamp_us > 0) {
		*p++ = TAG_NUMBER(nr_cell_chunk_timestamp_micros);
		p = put_varint(p, cell->timestamp_us);
	}
	if (label.size > 0)
		p = put_sized(p, nr_cell_chunk_labels, label);
	if (cell->value.size > 0)
		p = put_sized(p, nr_cell_chunk_value, cell->value);
	return p;
}

static int keep_names(struct chunks *c, const struct cell *cell)
{
	int err = buf_set(&c->names, cell->row);

	if (!err)
		err = buf_add_bytes(&c->names, cell->family);
	if (!err)
		err = buf_add_bytes(&c->names, cell->qualifier);
	c->row_size = cell->row.size;
	c->family_size = cell->family.size;
	return err;
}

int chunks_add(struct chunks *c, const struct cell *cell, struct bytes label)
{
	struct head h = look(c, cell);
	size_t size = chunk_size(&h, cell, label);
	uint8_t *p;
	int err = buf_reserve(&c->message,
			      size + 2 * VARINT_MAX_SIZE + COMMIT_SIZE);

	if (!err && h.qualifier)
		err = keep_names(c, cell);
	if (err)
		return err;
	assert(h.row || c->in_row);
	if (h.row)
		c->row_start = c->message.size;
	c->in_row = true;
	p = c->message.data + c->message.size;
	*p++ = TAG_SIZED(nr_read_rows_answer_chunks);
	c->last = (size_t)(p - c->message.data);
	p = put_chunk(put_varint(p, size), &h, cell, label);
	c->message.size = (size_t)(p - c->message.data);
	return 0;
}

/* The last chunk grows by two bytes, and so may its length. */
int chunks_commit(struct chunks *c)
{
	struct bytes rest, chunk;
	uint8_t *p;
	bool ok;
	int err = buf_reserve(&c->message, VARINT_MAX_SIZE + COMMIT_SIZE);

	if (err)
		return err;
	assert(c->in_row);
	rest = bytes_after(buf_bytes(&c->message), c->last);
	ok = take_sized(&rest, &chunk);
	assert(ok && rest.size == 0);
	(void)ok;
	p = c->message.data + c->last;
	p += varint_size(chunk.size + COMMIT_SIZE);
	memmove(p, chunk.data, chunk.size);
	put_varint(c->message.data + c->last, chunk.size + COMMIT_SIZE);
	p += chunk.size;
	*p++ = TAG_NUMBER(nr_cell_chunk_commit_row);
	*p++ = true;
	c->message.size = (size_t)(p - c->message.data);
	c->in_row = false;
	return 0;
}

void chunks_drop(struct chunks *c)
{
	if (c->in_row)
		c->message.size = c->row_start;
	c->in_row = false;
}
