#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/format/key.h"

/*
 * Why the order is right: a terminator, 00 01, is less than an escaped zero, 00
 * FF, and than any other byte that a longer part could have in its place, so a
 * part sorts before all that it is the beginning of. memchr finds zeros, of
 * which most keys have none but those of terminators.
 */
enum {
	ESCAPE = 0xff,
	TERMINATOR = 0x01,
};

static_assert(TERMINATOR < ESCAPE, "a part sorts before what it begins");

int key_add_table(struct buf *b, uint32_t table)
{
	uint8_t raw[KEY_TABLE_SIZE];

	put_u32be(raw, table);
	return buf_add(b, raw, sizeof(raw));
}

int key_add_open_part(struct buf *b, struct bytes part)
{
	static const uint8_t escaped[2] = { 0, ESCAPE };
	size_t size = b->size;
	int err;

	while (part.size > 0) {
		const uint8_t *zero = memchr(part.data, 0, part.size);
		size_t run = zero ? (size_t)(zero - part.data) : part.size;

		err = buf_add(b, part.data, run);
		if (!err && zero)
			err = buf_add(b, escaped, sizeof(escaped));
		if (err < 0) {
			b->size = size;
			return err;
		}
		part = bytes_after(part, run + (zero ? 1 : 0));
	}
	return 0;
}

int key_add_part(struct buf *b, struct bytes part)
{
	size_t size = b->size;
	uint8_t *p;
	int err;

	/* Enough for a part without zeros, so that it is copied in one go. */
	err = buf_reserve(b, part.size + 2);
	if (!err && part.size > 0 && memchr(part.data, 0, part.size))
		err = key_add_open_part(b, part);
	else if (!err)
		err = buf_add_bytes(b, part);
	if (!err)
		err = buf_reserve(b, 2);
	if (err < 0) {
		b->size = size;
		return err;
	}
	p = b->data + b->size;
	p[0] = 0;
	p[1] = TERMINATOR;
	b->size += 2;
	return 0;
}

int key_add_timestamp(struct buf *b, uint64_t timestamp_us)
{
	uint8_t raw[KEY_TIMESTAMP_SIZE];

	put_u64be(raw, ~timestamp_us);
	return buf_add(b, raw, sizeof(raw));
}

int key_add_trailer(struct buf *b, uint64_t seq, enum key_kind kind)
{
	uint8_t raw[KEY_TRAILER_SIZE];

	assert(seq <= KEY_SEQ_MAX);
	put_u64be(raw, ~(seq << 8 | kind));
	return buf_add(b, raw, sizeof(raw));
}

/* The offset past the terminator of the part that starts at offset, or 0 if
 * the part is not terminated or holds a zero that is not escaped. offset may be
 * past the key's end. *escaped tells whether there is a zero to decode. */
static inline size_t find_end(struct bytes key, size_t offset, bool *escaped)
{
	*escaped = false;
	while (offset < key.size) {
		const uint8_t *zero =
			memchr(key.data + offset, 0, key.size - offset);

		if (!zero || zero + 1 == key.data + key.size)
			return 0;
		offset = (size_t)(zero - key.data) + 2;
		if (zero[1] == TERMINATOR)
			return offset;
		if (zero[1] != ESCAPE)
			return 0;
		*escaped = true;
	}
	return 0;
}

static size_t part_end(struct bytes key, size_t offset)
{
	bool escaped;

	return find_end(key, offset, &escaped);
}

int key_split(struct bytes key, struct key_parts *parts)
{
	*parts = (struct key_parts){ 0 };
	return key_split_after(key, 0, parts);
}

/* A part is looked for again only if what is shared ends within it: shared
 * bytes that reach past a terminator have the same parts before it. Of 0, none
 * does.
 */
int key_split_after(struct bytes key, size_t shared, struct key_parts *parts)
{
	if (!parts->row_end || shared < parts->row_end) {
		parts->row_end = part_end(key, KEY_TABLE_SIZE);
		parts->family_end = 0;
	}
	if (!parts->family_end || shared < parts->family_end) {
		parts->family_end =
			parts->row_end ? part_end(key, parts->row_end) : 0;
		parts->column_end = 0;
	}
	if (!parts->column_end || shared < parts->column_end)
		parts->column_end = parts->family_end
					    ? part_end(key, parts->family_end)
					    : 0;
	if (!parts->column_end)
		return fail(ERR_key_malformed,
			    "key of %zu bytes lacks row, family or qualifier",
			    key.size);
	if (key.size !=
	    parts->column_end + KEY_TIMESTAMP_SIZE + KEY_TRAILER_SIZE)
		return fail(ERR_key_malformed,
			    "key has %zu bytes after its column, not %d",
			    key.size - parts->column_end,
			    KEY_TIMESTAMP_SIZE + KEY_TRAILER_SIZE);
	if (key_kind(key) != KEY_DELETE && !key_kind_is_put(key_kind(key)))
		return fail(ERR_key_malformed, "key has unknown kind %d",
			    (int)key_kind(key));
	return 0;
}

size_t key_row_end(struct bytes key)
{
	return part_end(key, KEY_TABLE_SIZE);
}

bool key_same_row(struct bytes a, struct bytes b)
{
	size_t row_end = key_row_end(a);

	return b.size >= row_end && memcmp(a.data, b.data, row_end) == 0;
}

size_t key_family_end(struct bytes key, size_t row_end)
{
	return row_end ? part_end(key, row_end) : 0;
}

size_t key_column_end(struct bytes key)
{
	size_t end = part_end(key, KEY_TABLE_SIZE);

	end = end ? part_end(key, end) : 0;
	return end ? part_end(key, end) : 0;
}

int key_part(struct bytes key, size_t offset, struct buf *scratch,
	     struct bytes *part, size_t *end)
{
	bool escaped;
	size_t stop = find_end(key, offset, &escaped);
	const uint8_t *zero;
	struct bytes rest;
	size_t run;
	int err;

	if (!stop)
		return fail(ERR_key_malformed,
			    "key part at offset %zu of %zu is not terminated",
			    offset, key.size);
	assert(stop >= offset + 2 && stop <= key.size);
	*end = stop;
	*part = bytes_of(key.data + offset, stop - offset - 2);
	if (!escaped)
		return 0;

	zero = memchr(part->data, 0, part->size);
	buf_reset(scratch);
	/* Decoding only shortens, so that nothing below can fail. */
	err = buf_reserve(scratch, part->size);
	if (err < 0)
		return err;
	rest = *part;
	while (zero) {
		/* The zero stays, its escape goes. */
		run = (size_t)(zero - rest.data) + 1;
		buf_add(scratch, rest.data, run);
		rest = bytes_after(rest, run + 1);
		zero = rest.size ? memchr(rest.data, 0, rest.size) : NULL;
	}
	buf_add_bytes(scratch, rest);
	*part = buf_bytes(scratch);
	return 0;
}

uint64_t key_timestamp(struct bytes key)
{
	return ~get_u64be(key.data + key.size - KEY_TRAILER_SIZE -
			  KEY_TIMESTAMP_SIZE);
}

/* Sequence and kind, stored inverted so that the newest write comes first. */
static uint64_t key_trailer(struct bytes key)
{
	return ~get_u64be(key.data + key.size - KEY_TRAILER_SIZE);
}

uint64_t key_seq(struct bytes key)
{
	return key_trailer(key) >> 8;
}

enum key_kind key_kind(struct bytes key)
{
	return (enum key_kind)(key_trailer(key) & 0xff);
}

int key_successor(struct bytes prefix, struct buf *b)
{
	int err;

	while (prefix.size > 0 && prefix.data[prefix.size - 1] == 0xff)
		prefix.size--;
	err = buf_set(b, prefix);
	if (!err && b->size > 0)
		b->data[b->size - 1]++;
	return err;
}

/* The bounds are row prefixes, terminators included: the first key of a row is
 * not less than its prefix, and all keys of rows before it are. */
int key_row_range(uint32_t table, struct bytes start, struct bytes end,
		  struct buf *from, struct buf *to)
{
	int err;

	buf_reset(from);
	buf_reset(to);
	err = key_add_table(from, table);
	if (!err && end.size == 0)
		err = key_successor(buf_bytes(from), to);
	else if (!err)
		err = key_add_table(to, table);
	if (!err && end.size > 0)
		err = key_add_part(to, end);
	if (!err && start.size > 0)
		err = key_add_part(from, start);
	return err;
}
