#include "store/base/err.h"
#include "store/format/bloom.h"
#include "tests/unit/suite.h"

static uint64_t hash_of(uint64_t n)
{
	return hash64(bytes_of(&n, sizeof(n)));
}

/* How many of the first tries absent prefixes get through, of a filter of count
 * entries, all of which do. */
static size_t passed(size_t count, uint32_t bits, size_t tries)
{
	uint64_t *hashes = malloc((count + 1) * sizeof(*hashes));
	struct buf filter = BUF_INIT;
	size_t i, n = 0;

	ck_assert_ptr_nonnull(hashes);
	for (i = 0; i < count; i++)
		hashes[i] = hash_of(i);
	ck_assert_int_eq(bloom_build(hashes, count, bits, &filter), 0);
	ck_assert_uint_eq(filter.size, bloom_size(count, bits));
	for (i = 0; i < count; i++)
		ck_assert_int_eq(
			bloom_may_contain(buf_bytes(&filter), hashes[i]), 1);
	for (i = 0; i < tries; i++) {
		int result = bloom_may_contain(buf_bytes(&filter),
					       hash_of(1000000 + i));

		ck_assert_int_ge(result, 0);
		n += (size_t)result;
	}
	buf_release(&filter);
	free(hashes);
	return n;
}

START_TEST(rates)
{
	ck_assert_uint_eq(passed(0, 10, 100), 0);
	passed(1, 10, 10);
	passed(52, 10, 10);
	/* 0.95 % is the theory for 10 bits and 6 probes in a cache line. */
	ck_assert_uint_lt(passed(20000, 10, 100000), 1100);
	ck_assert_uint_lt(passed(20000, 20, 100000), 140);
}
END_TEST

START_TEST(malformed_is_refused)
{
	uint64_t hash = hash_of(1);
	struct buf filter = BUF_INIT;
	size_t i;

	ck_assert_int_eq(bloom_build(&hash, 1, 10, &filter), 0);
	for (i = 0; i < filter.size; i++)
		ck_assert_int_eq(
			bloom_may_contain(bytes_of(filter.data, i), hash),
			-ERR_block_malformed);
	filter.data[filter.size - 1] = 8;
	ck_assert_int_eq(bloom_may_contain(buf_bytes(&filter), hash),
			 -ERR_block_malformed);
	filter.data[filter.size - 1] = 6;
	filter.data[filter.size - 2] = 2;
	ck_assert_int_eq(bloom_may_contain(buf_bytes(&filter), hash),
			 -ERR_block_malformed);
	buf_release(&filter);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { rates, malformed_is_refused };

	return run_suite("filter", NULL, NULL, tests, 2);
}
