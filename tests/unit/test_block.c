#include <stdlib.h>

#include "store/base/err.h"
#include "store/format/block_build.h"
#include "store/format/block_heads.h"
#include "tests/unit/suite.h"

#define ENTRIES 300

static uint32_t state;
static uint8_t buffer[KEY_SIZE_MAX];
static struct buf keys[ENTRIES];
static size_t rows[ENTRIES]; /* number of the row of each key */
static size_t count;
static struct block_builder builder;

static uint32_t draw(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static void teardown(void)
{
	size_t i;

	for (i = 0; i < ENTRIES; i++)
		buf_release(&keys[i]);
	block_builder_release(&builder);
}

/* Keys that are rows of a few columns each; some rows are long. */
static struct bytes build(size_t wanted)
{
	struct bytes block, before = BYTES_NONE;
	uint8_t row[16] = { 0 };
	/* Long rows have heads that do not tell their columns apart. */
	size_t row_size = draw(2) ? 2 : sizeof(row);
	uint32_t left = 0, column = 0;

	builder.restart_interval = 4 + draw(13);
	block_builder_reset(&builder);
	for (count = 0; count < wanted; count++) {
		struct buf *key = &keys[count];
		bool same_row = left > 0;
		uint8_t part[2];

		if (!same_row) {
			left = draw(4) ? draw(6) : draw(120);
			row[0]++;
			column = 0;
		} else {
			left--;
		}
		column++;
		part[0] = (uint8_t)(column >> 8);
		part[1] = (uint8_t)column;
		buf_reset(key);
		key_add_table(key, 1);
		key_add_part(key, bytes_of(row, row_size));
		ck_assert_int_eq(key_add_part(key, bytes_of(part, 2)), 0);
		rows[count] = row[0];
		ck_assert_int_eq(
			block_builder_add(&builder, buf_bytes(key),
					  bytes_shared(before, buf_bytes(key)),
					  same_row && count > 0,
					  bytes_of(key->data, draw(5))),
			0);
		before = buf_bytes(key);
	}
	ck_assert_int_eq(block_builder_finish(&builder, &block), 0);
	return block;
}

static void expect(const struct block_iter *it, int result, size_t at)
{
	ck_assert_int_eq(result, at < count);
	if (result)
		ck_assert(bytes_equal(it->key, buf_bytes(&keys[at])));
}

static void walk(struct bytes block, const struct block_heads *heads)
{
	struct block_iter it;
	struct bytes key;
	size_t i, at;
	int result;

	ck_assert_int_eq(block_iter_init(&it, block, heads, buffer), 0);
	ck_assert_int_eq(block_iter_verify(&it), 0);
	result = block_iter_first(&it);
	for (i = 0; i < count; i++, result = block_iter_next(&it))
		expect(&it, result, i);
	ck_assert_int_eq(result, 0);
	expect(&it, block_iter_last(&it), count ? count - 1 : SIZE_MAX);
	for (i = 0; i < count; i++) {
		expect(&it, block_iter_seek(&it, buf_bytes(&keys[i])), i);
		result = block_iter_next_row(&it);
		for (at = i + 1; at < count && rows[at] == rows[i];)
			at++;
		expect(&it, result, at);
		expect(&it, block_iter_before(&it, buf_bytes(&keys[i])),
		       i ? i - 1 : SIZE_MAX);
		/* Between this key and the one before. */
		key = bytes_of(keys[i].data, keys[i].size - 1);
		expect(&it, block_iter_seek(&it, key), i);
	}
	expect(&it, block_iter_seek(&it, BYTES_LITERAL("\xff")), count);
	expect(&it, block_iter_seek(&it, BYTES_NONE), 0);
}

START_TEST(moves_in_every_way)
{
	int round;

	for (round = 0; round < 60; round++) {
		struct block_heads *heads;
		struct bytes block;

		state = (uint32_t)round;
		block = build(round < 5 ? (size_t)round : draw(ENTRIES));
		walk(block, NULL);
		heads = block_heads_new(block);
		ck_assert((heads != NULL) == (count > 0));
		walk(block, heads);
		free(heads);
	}
}
END_TEST

/* Anything a caller may do with a block that may hold anything. */
static void use(struct bytes block)
{
	struct block_heads *heads = draw(2) ? block_heads_new(block) : NULL;
	struct block_iter it;
	int steps, result;

	result = block_iter_init(&it, block, heads, draw(4) ? buffer : NULL);
	if (result < 0)
		goto free_heads;
	(void)block_iter_verify(&it);
	for (steps = 0; steps < 20; steps++) {
		struct bytes key = buf_bytes(&keys[draw((uint32_t)count)]);

		switch (draw(4)) {
		case 0:
			result = block_iter_seek(&it, key);
			break;
		case 1:
			result = block_iter_before(&it, key);
			break;
		case 2:
			result = block_iter_first(&it);
			break;
		default:
			result = block_iter_last(&it);
		}
		if (result > 0)
			result = block_iter_next_row(&it);
		while (result > 0)
			result = block_iter_next(&it);
		if (result < 0)
			ck_assert_int_eq(result, -ERR_block_malformed);
	}
free_heads:
	free(heads);
}

START_TEST(hostile_blocks_are_harmless)
{
	int round;

	for (round = 0; round < 3000; round++) {
		struct bytes block;
		uint8_t *copy;
		int flips;

		state = (uint32_t)round;
		block = build(1 + draw(60));
		/* A copy of just its size, so that reading on is found. */
		block.size -= draw(3) ? 0 : draw(9);
		copy = malloc(block.size);
		ck_assert_ptr_nonnull(copy);
		memcpy(copy, block.data, block.size);
		for (flips = (int)draw(6); flips > 0; flips--) {
			size_t at = draw(2) ? draw((uint32_t)block.size)
					    : block.size - 1 - draw(8);

			copy[at] = (uint8_t)draw(256);
		}
		use(bytes_of(copy, block.size));
		free(copy);
	}
}
END_TEST

/* Appends an entry to b, of a key that ends with this byte as often. */
static void add_raw(struct buf *b, size_t shared, size_t unshared, char last)
{
	size_t i;

	ck_assert_int_eq(buf_add_varint(b, shared), 0);
	ck_assert_int_eq(buf_add_varint(b, unshared), 0);
	ck_assert_int_eq(buf_add_varint(b, 0), 0);
	ck_assert_int_eq(buf_add_byte(b, 0), 0);
	for (i = 0; i < unshared; i++)
		ck_assert_int_eq(buf_add_byte(b, (uint8_t)last), 0);
}

static void add_restarts(struct buf *b, const uint32_t *restarts, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		ck_assert_int_eq(buf_add_u32le(b, restarts[i]), 0);
	ck_assert_int_eq(buf_add_u32le(b, n), 0);
}

/* No key that is stored is so long, but a block and a search key may be. */
START_TEST(keys_longer_than_the_buffer)
{
	static struct {
		uint8_t buffer[KEY_SIZE_MAX], guard[64];
	} room;
	struct buf block = BUF_INIT, key = BUF_INIT;
	const uint32_t restart = 0;
	struct block_iter it;
	size_t i;

	add_raw(&block, 0, KEY_SIZE_MAX + 30, 'a');
	add_raw(&block, KEY_SIZE_MAX + 20, 1, 'c');
	add_restarts(&block, &restart, 1);
	for (i = 0; i < KEY_SIZE_MAX + 20; i++)
		ck_assert_int_eq(buf_add_byte(&key, 'a'), 0);
	ck_assert_int_eq(buf_add_byte(&key, 'b'), 0);
	ck_assert_int_eq(
		block_iter_init(&it, buf_bytes(&block), NULL, room.buffer), 0);
	ck_assert_int_eq(block_iter_seek(&it, buf_bytes(&key)),
			 -ERR_block_malformed);
	for (i = 0; i < sizeof(room.guard); i++)
		ck_assert_uint_eq(room.guard[i], 0);
	buf_release(&block);
	buf_release(&key);
}
END_TEST

/* Where a search begins nothing is shared. */
START_TEST(restarts_that_share_are_found)
{
	struct buf block = BUF_INIT;
	struct block_iter it;
	uint32_t restarts[2] = { 0, 0 };

	/* The second of two entries, at the second of two restarts. */
	add_raw(&block, 0, 2, 'a');
	restarts[1] = (uint32_t)block.size;
	add_raw(&block, 1, 1, 'b');
	add_restarts(&block, restarts, 2);
	ck_assert_int_eq(block_iter_init(&it, buf_bytes(&block), NULL, buffer),
			 0);
	ck_assert_int_eq(block_iter_verify(&it), -ERR_block_malformed);
	/* The first restart is not at the first entry. */
	buf_reset(&block);
	add_raw(&block, 0, 2, 'a');
	restarts[0] = (uint32_t)block.size;
	add_raw(&block, 0, 2, 'b');
	add_restarts(&block, restarts, 1);
	ck_assert_int_eq(block_iter_init(&it, buf_bytes(&block), NULL, buffer),
			 0);
	ck_assert_int_eq(block_iter_verify(&it), -ERR_block_malformed);
	/* The first entry shares with none. */
	buf_reset(&block);
	add_raw(&block, 1, 2, 'a');
	restarts[0] = (uint32_t)block.size;
	add_raw(&block, 0, 2, 'b');
	add_restarts(&block, restarts, 1);
	ck_assert_int_eq(block_iter_init(&it, buf_bytes(&block), NULL, buffer),
			 0);
	ck_assert_int_eq(block_iter_seek(&it, BYTES_NONE),
			 -ERR_block_malformed);
	buf_release(&block);
}
END_TEST

START_TEST(stored_form)
{
	struct buf stored = BUF_INIT, out = BUF_INIT;
	enum block_compression compression;
	struct bytes block;
	size_t size, i;

	state = 1;
	block = build(200);
	ck_assert_int_eq(block_store(block, false, &stored), 0);
	ck_assert_uint_eq(stored.size, block.size + BLOCK_TRAILER_SIZE);
	ck_assert_int_eq(block_check(buf_bytes(&stored), &compression, &size),
			 0);
	ck_assert_int_eq(compression, BLOCK_RAW);
	ck_assert(bytes_equal(bytes_of(stored.data, size), block));

	ck_assert_int_eq(block_store(block, true, &stored), 0);
	ck_assert_uint_lt(stored.size, block.size - block.size / 8);
	ck_assert_int_eq(block_check(buf_bytes(&stored), &compression, &size),
			 0);
	ck_assert_int_eq(compression, BLOCK_LZ4);
	ck_assert_uint_eq(size, block.size);
	ck_assert_int_eq(buf_reserve(&out, size), 0);
	ck_assert_int_eq(block_expand(buf_bytes(&stored), out.data, size), 0);
	ck_assert(bytes_equal(bytes_of(out.data, size), block));

	for (i = 0; i < stored.size; i++) {
		stored.data[i] ^= 4;
		ck_assert_int_eq(
			block_check(buf_bytes(&stored), &compression, &size),
			-ERR_block_checksum);
		stored.data[i] ^= 4;
	}
	for (i = 0; i < stored.size; i++)
		ck_assert_int_lt(block_check(bytes_of(stored.data, i),
					     &compression, &size),
				 0);
	buf_release(&stored);
	buf_release(&out);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { moves_in_every_way,
				 hostile_blocks_are_harmless,
				 keys_longer_than_the_buffer,
				 restarts_that_share_are_found, stored_form };

	return run_suite("block", NULL, teardown, tests, 5);
}
