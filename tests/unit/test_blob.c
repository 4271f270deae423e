#include <stdlib.h>

#include "store/base/err.h"
#include "store/format/blob.h"
#include "tests/unit/suite.h"

#define FILE_ID 0x100000002u

static struct blob_list make_list(uint64_t size, uint32_t chunk_size)
{
	struct blob_list l = { size, chunk_size, 0, NULL };
	uint32_t i;

	l.count = (uint32_t)((size + chunk_size - 1) / chunk_size);
	l.chunks = calloc(l.count, sizeof(*l.chunks));
	ck_assert_ptr_nonnull(l.chunks);
	for (i = 0; i < l.count; i++)
		l.chunks[i] = (struct blob_chunk){ FILE_ID + i / 3,
						   BLOB_HEADER_SIZE + i * 1000,
						   blob_chunk_raw_size(&l, i),
						   i * 77777 };
	return l;
}

START_TEST(list_comes_back)
{
	struct blob_list l = make_list(2500, 1000), again;
	struct buf out = BUF_INIT;
	uint32_t i;

	ck_assert_int_eq(blob_chunk_raw_size(&l, 1), 1000);
	ck_assert_int_eq(blob_chunk_raw_size(&l, 2), 500);
	ck_assert_int_eq(blob_list_encode(&l, &out), 0);
	ck_assert_uint_eq(blob_list_value_size(buf_bytes(&out)), 2500);
	ck_assert_int_eq(blob_list_decode(buf_bytes(&out), &again), 0);
	ck_assert_uint_eq(again.size, 2500);
	ck_assert_uint_eq(again.count, 3);
	for (i = 0; i < 3; i++) {
		ck_assert(blob_chunk_equal(&l.chunks[i], &again.chunks[i]));
		ck_assert_uint_eq(again.chunks[i].size, l.chunks[i].size);
		ck_assert_uint_eq(again.chunks[i].crc, l.chunks[i].crc);
	}
	blob_list_release(&l);
	blob_list_release(&again);
	buf_release(&out);
}
END_TEST

/* One byte less or more is no list, nor is one with a field out of bounds. */
START_TEST(list_is_checked)
{
	struct blob_list l = make_list(2500, 1000), again;
	struct buf out = BUF_INIT;
	size_t n;

	ck_assert_int_eq(blob_list_encode(&l, &out), 0);
	for (n = 0; n < out.size; n++)
		ck_assert_int_eq(
			blob_list_decode(bytes_of(out.data, n), &again),
			-ERR_blob_damaged);
	ck_assert_int_eq(buf_add_byte(&out, 0), 0);
	ck_assert_int_eq(blob_list_decode(buf_bytes(&out), &again),
			 -ERR_blob_damaged);
	l.chunks[1].size = 1001;
	buf_reset(&out);
	ck_assert_int_eq(blob_list_encode(&l, &out), 0);
	ck_assert_int_eq(blob_list_decode(buf_bytes(&out), &again),
			 -ERR_blob_damaged);
	l.chunks[1].size = 10;
	l.chunks[1].offset = BLOB_HEADER_SIZE - 1;
	buf_reset(&out);
	ck_assert_int_eq(blob_list_encode(&l, &out), 0);
	ck_assert_int_eq(blob_list_decode(buf_bytes(&out), &again),
			 -ERR_blob_damaged);
	blob_list_release(&l);
	buf_release(&out);
}
END_TEST

static void check_chunk(struct bytes raw, bool smaller)
{
	struct buf stored = BUF_INIT;
	uint8_t *again = malloc(raw.size);
	struct blob_chunk c;
	size_t i;

	ck_assert_int_eq(blob_chunk_encode(raw, &stored), 0);
	blob_chunk_place(&stored, FILE_ID, 5000, &c);
	ck_assert_uint_eq(stored.size, blob_stored_size(&c));
	ck_assert(smaller ? c.size < raw.size : c.size == raw.size);
	ck_assert_int_eq(blob_chunk_decode(buf_bytes(&stored), &c,
					   (uint32_t)raw.size, again, "x"),
			 0);
	ck_assert_mem_eq(again, raw.data, raw.size);
	for (i = 0; i < stored.size * 8; i += 5) {
		stored.data[i / 8] ^= (uint8_t)(1 << i % 8);
		ck_assert_int_eq(blob_chunk_decode(buf_bytes(&stored), &c,
						   (uint32_t)raw.size, again,
						   "x"),
				 -ERR_blob_damaged);
		stored.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	/* The same bytes elsewhere are another chunk. */
	c.offset++;
	ck_assert_int_eq(blob_chunk_decode(buf_bytes(&stored), &c,
					   (uint32_t)raw.size, again, "x"),
			 -ERR_blob_damaged);
	free(again);
	buf_release(&stored);
}

START_TEST(chunk_comes_back)
{
	uint8_t raw[3000];
	uint32_t state = 1;
	size_t i;

	memset(raw, 'x', sizeof(raw));
	check_chunk(bytes_of(raw, sizeof(raw)), true);
	for (i = 0; i < sizeof(raw); i++) {
		state = state * 1664525 + 1013904223;
		raw[i] = (uint8_t)(state >> 24);
	}
	check_chunk(bytes_of(raw, sizeof(raw)), false);
	check_chunk(bytes_of(raw, 1), false);
}
END_TEST

START_TEST(header_is_checked)
{
	uint8_t raw[BLOB_HEADER_SIZE];
	size_t i;

	blob_header_encode(FILE_ID, raw);
	ck_assert_int_eq(blob_header_check(raw, FILE_ID, "x"), 0);
	ck_assert_int_eq(blob_header_check(raw, FILE_ID + 1, "x"),
			 -ERR_blob_damaged);
	for (i = 0; i < sizeof(raw) * 8; i++) {
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
		ck_assert_int_lt(blob_header_check(raw, FILE_ID, "x"), 0);
		raw[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}
END_TEST

/* Versions of a column share chunks, which count once. */
START_TEST(tally_counts_shared_chunks_once)
{
	struct blob_list a = make_list(2000, 1000), b = make_list(2000, 1000);
	struct blob_list other = make_list(2000, 1000);
	struct blob_tally t = { NULL, 0, BLOB_LIST_INIT };

	b.chunks[1].file = 7;
	ck_assert_int_eq(blob_tally_add(&t, &a, true), 0);
	ck_assert_uint_eq(t.count, 1);
	ck_assert_uint_eq(t.shares[0].size, 2 * (1000 + BLOB_HEAD_SIZE));
	ck_assert_int_eq(blob_tally_add(&t, &b, false), 0);
	ck_assert_uint_eq(t.count, 2);
	ck_assert_uint_eq(t.shares[0].file, 7);
	ck_assert_uint_eq(t.shares[0].size, 1000 + BLOB_HEAD_SIZE);
	ck_assert_uint_eq(t.shares[1].size, 2 * (1000 + BLOB_HEAD_SIZE));
	ck_assert_int_eq(blob_tally_add(&t, &other, true), 0);
	ck_assert_uint_eq(t.shares[1].size, 4 * (1000 + BLOB_HEAD_SIZE));
	blob_tally_release(&t);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		list_comes_back,
		list_is_checked,
		chunk_comes_back,
		header_is_checked,
		tally_counts_shared_chunks_once,
	};

	return run_suite("blob", NULL, NULL, tests,
			 sizeof(tests) / sizeof(tests[0]));
}
