#include "store/base/err.h"
#include "store/format/key.h"
#include "tests/unit/suite.h"

struct cell_name {
	uint32_t table;
	struct bytes parts[3];
	uint64_t timestamp, seq;
	enum key_kind kind;
};

static uint32_t state;

static uint32_t draw(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static void encode(const struct cell_name *c, struct buf *b)
{
	size_t i;

	buf_reset(b);
	ck_assert_int_eq(key_add_table(b, c->table), 0);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(key_add_part(b, c->parts[i]), 0);
	ck_assert_int_eq(key_add_timestamp(b, c->timestamp), 0);
	ck_assert_int_eq(key_add_trailer(b, c->seq, c->kind), 0);
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare(const struct cell_name *a, const struct cell_name *b)
{
	int result = order(a->table, b->table);
	size_t i;

	for (i = 0; i < 3 && !result; i++)
		result = bytes_compare(a->parts[i], b->parts[i]);
	if (!result)
		result = order(b->timestamp, a->timestamp);
	if (!result)
		result = order(b->seq, a->seq);
	if (!result)
		result = order(b->kind, a->kind);
	return result;
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* Few distinct bytes, so that neighbours and escapes are frequent. */
static void random_cell(struct cell_name *c, uint8_t memory[3][8])
{
	static const uint8_t letters[] = { 0, 1, 2, 0xfe, 0xff, 'a' };
	size_t i, j;

	c->table = draw(3);
	for (i = 0; i < 3; i++) {
		c->parts[i] = bytes_of(memory[i], draw(5));
		for (j = 0; j < c->parts[i].size; j++)
			memory[i][j] = letters[draw(sizeof(letters))];
	}
	c->timestamp = draw(3) ? draw(3) : UINT64_MAX - draw(2);
	c->seq = draw(3) ? draw(3) : KEY_SEQ_MAX - draw(2);
	c->kind = draw(2) ? KEY_PUT : KEY_DELETE;
}

START_TEST(order_is_that_of_the_tuples)
{
	struct buf x = BUF_INIT, y = BUF_INIT;
	uint8_t memory[2][3][8];
	struct cell_name a, b;
	int i;

	state = 1;
	for (i = 0; i < 5000; i++) {
		random_cell(&a, memory[0]);
		b = a;
		if (draw(4) == 0) {
			random_cell(&b, memory[1]);
		} else {
			size_t part = draw(3);
			struct cell_name other;

			random_cell(&other, memory[1]);
			b.parts[part] = other.parts[part];
			if (draw(2))
				b.timestamp = other.timestamp;
		}
		encode(&a, &x);
		encode(&b, &y);
		ck_assert_int_eq(
			sign(bytes_compare(buf_bytes(&x), buf_bytes(&y))),
			sign(compare(&a, &b)));
	}
	buf_release(&x);
	buf_release(&y);
}
END_TEST

START_TEST(round_trip)
{
	struct buf b = BUF_INIT, scratch = BUF_INIT;
	uint8_t memory[3][8];
	struct cell_name a;
	int i;

	state = 2;
	for (i = 0; i < 5000; i++) {
		size_t offset = KEY_TABLE_SIZE, end, ends[3], j;
		struct key_parts parts;
		struct bytes part, key;

		random_cell(&a, memory);
		encode(&a, &b);
		key = buf_bytes(&b);
		ck_assert_int_eq(key_split(key, &parts), 0);
		for (j = 0; j < 3; j++) {
			ck_assert_int_eq(
				key_part(key, offset, &scratch, &part, &end),
				0);
			ck_assert(bytes_equal(part, a.parts[j]));
			ends[j] = offset = end;
		}
		ck_assert_uint_eq(ends[0], parts.row_end);
		ck_assert_uint_eq(ends[0], key_row_end(key));
		ck_assert_uint_eq(ends[1], parts.family_end);
		ck_assert_uint_eq(ends[2], parts.column_end);
		ck_assert_uint_eq(ends[2], key_column_end(key));
		ck_assert_uint_eq(key_table(key), a.table);
		ck_assert_uint_eq(key_timestamp(key), a.timestamp);
		ck_assert_uint_eq(key_seq(key), a.seq);
		ck_assert_int_eq(key_kind(key), a.kind);
		ck_assert_uint_eq(key_version(key).size, key.size - 8);
	}
	buf_release(&b);
	buf_release(&scratch);
}
END_TEST

/* Every key with a prefix lies in [prefix, successor), every other outside. */
START_TEST(successor_ends_the_prefix)
{
	struct buf x = BUF_INIT, y = BUF_INIT, end = BUF_INIT;
	uint8_t memory[2][3][8];
	struct key_parts parts, whole;
	struct cell_name a, b;
	int i;

	state = 3;
	for (i = 0; i < 5000; i++) {
		struct bytes prefix, key;
		size_t sizes[3];
		bool inside;

		random_cell(&a, memory[0]);
		random_cell(&b, memory[1]);
		b.table = a.table;
		encode(&a, &x);
		encode(&b, &y);
		key = buf_bytes(&y);
		ck_assert_int_eq(key_split(buf_bytes(&x), &parts), 0);
		sizes[0] = parts.row_end;
		sizes[1] = parts.family_end;
		sizes[2] = parts.column_end;
		prefix = bytes_of(x.data, sizes[draw(3)]);
		ck_assert_int_eq(key_successor(prefix, &end), 0);
		ck_assert_int_eq(end.data[end.size - 1], 2);
		ck_assert_int_eq(
			key_split_after(key, bytes_shared(key, buf_bytes(&x)),
					&parts),
			0);
		ck_assert_int_eq(key_split(key, &whole), 0);
		ck_assert(!memcmp(&parts, &whole, sizeof(parts)));
		inside = bytes_compare(prefix, key) <= 0 &&
			 bytes_compare(key, buf_bytes(&end)) < 0;
		ck_assert_int_eq(inside, bytes_starts_with(key, prefix));
	}
	ck_assert_int_eq(key_successor(BYTES_LITERAL("a\xff\xff"), &end), 0);
	ck_assert(bytes_equal(buf_bytes(&end), BYTES_LITERAL("b")));
	ck_assert_int_eq(key_successor(BYTES_LITERAL("\xff\xff"), &end), 0);
	ck_assert_uint_eq(end.size, 0);
	ck_assert_int_eq(key_successor(BYTES_NONE, &end), 0);
	ck_assert_uint_eq(end.size, 0);
	buf_release(&x);
	buf_release(&y);
	buf_release(&end);
}
END_TEST

/* An open part starts exactly the parts that it is a prefix of. */
START_TEST(open_part_is_a_prefix)
{
	struct buf x = BUF_INIT, y = BUF_INIT;
	uint8_t memory[2][3][8];
	struct cell_name a, b;
	int i;

	state = 4;
	for (i = 0; i < 20000; i++) {
		random_cell(&a, memory[0]);
		random_cell(&b, memory[1]);
		buf_reset(&x);
		buf_reset(&y);
		ck_assert_int_eq(key_add_open_part(&x, a.parts[0]), 0);
		ck_assert_int_eq(key_add_part(&y, b.parts[0]), 0);
		ck_assert_int_eq(
			bytes_starts_with(buf_bytes(&y), buf_bytes(&x)),
			bytes_starts_with(b.parts[0], a.parts[0]));
	}
	buf_release(&x);
	buf_release(&y);
}
END_TEST

/* No damaged key is read beyond its end, and cut ones are refused. */
START_TEST(malformed_is_refused)
{
	struct buf b = BUF_INIT, scratch = BUF_INIT;
	struct cell_name a = { .table = 1,
			       .parts = { BYTES_LITERAL("r\0w"),
					  BYTES_LITERAL("fam"),
					  BYTES_LITERAL("\0q\0") },
			       .timestamp = 5,
			       .seq = 6,
			       .kind = KEY_PUT };
	struct key_parts parts;
	struct bytes part;
	size_t i, end;

	encode(&a, &b);
	for (i = 0; i < b.size; i++) {
		uint8_t *copy = malloc(i ? i : 1);
		struct bytes key = bytes_of(copy, i);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, b.data, i);
		ck_assert_int_eq(key_split(key, &parts), -ERR_key_malformed);
		ck_assert_uint_eq(key_column_end(key),
				  i < b.size - 16 ? 0 : b.size - 16);
		if (i < 4 + 6) {
			ck_assert_uint_eq(key_row_end(key), 0);
			ck_assert_int_eq(
				key_part(key, 4, &scratch, &part, &end),
				-ERR_key_malformed);
		}
		free(copy);
	}
	buf_add_byte(&b, 0);
	ck_assert_int_eq(key_split(buf_bytes(&b), &parts), -ERR_key_malformed);
	b.size--;
	b.data[b.size - 1] = 0;
	ck_assert_int_eq(key_split(buf_bytes(&b), &parts), -ERR_key_malformed);
	b.data[6] = 7; /* an escape of nothing known */
	ck_assert_uint_eq(key_row_end(buf_bytes(&b)), 0);
	buf_release(&b);
	buf_release(&scratch);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { order_is_that_of_the_tuples, round_trip,
				 successor_ends_the_prefix,
				 open_part_is_a_prefix, malformed_is_refused };

	return run_suite("key", NULL, NULL, tests, 5);
}
