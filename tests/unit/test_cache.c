#include <malloc.h>
#include <pthread.h>

#include "store/base/cache.h"
#include "tests/unit/suite.h"

static void fill(struct cache_block *block, uint64_t file, uint64_t offset)
{
	uint8_t *data = (uint8_t *)(uintptr_t)block->bytes.data;

	memset(data, (int)(file * 31 + offset), block->bytes.size);
}

static void check(const struct cache_block *block, uint64_t file,
		  uint64_t offset)
{
	uint8_t wanted = (uint8_t)(file * 31 + offset);

	ck_assert_uint_eq(block->bytes.data[0], wanted);
	ck_assert_uint_eq(block->bytes.data[block->bytes.size - 1], wanted);
}

/* true if it was there already */
static bool use(struct cache *c, uint64_t file, uint64_t offset, size_t size)
{
	struct cache_block *block = cache_get(c, file, offset);
	bool hit = block != NULL;

	if (!block) {
		block = cache_new_block(c, size);
		ck_assert_ptr_nonnull(block);
		ck_assert_uint_eq((uintptr_t)block->bytes.data % 64, 0);
		fill(block, file, offset);
		cache_insert(c, file, offset, block);
	}
	check(block, file, offset);
	cache_put(c, block);
	return hit;
}

START_TEST(finds_what_was_inserted)
{
	struct cache *c;
	struct cache_stats stats;
	uint64_t i;

	ck_assert_int_eq(cache_new(1 << 20, &c), 0);
	for (i = 0; i < 100; i++)
		ck_assert(!use(c, i % 3, i, 1000));
	for (i = 0; i < 100; i++)
		ck_assert(use(c, i % 3, i, 1000));
	stats = cache_stats(c);
	ck_assert_uint_eq(stats.hit_count, 100);
	ck_assert_uint_eq(stats.miss_count, 100);
	ck_assert_uint_ge(stats.used_size, 100000);
	cache_forget(c, 1);
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(use(c, i % 3, i, 1000), i % 3 != 1);
	cache_free(c);
}
END_TEST

START_TEST(size_is_bound)
{
	struct cache *c;
	uint64_t i;
	size_t capacity;

	for (capacity = 0; capacity < 5 << 20; capacity = capacity * 3 + 999) {
		ck_assert_int_eq(cache_new(capacity, &c), 0);
		for (i = 0; i < 3000; i++) {
			use(c, 1, i * 7919 % 500, 1 + i * 104729 % 20000);
			ck_assert_uint_le(cache_stats(c).used_size, capacity);
		}
		cache_free(c);
	}
}
END_TEST

START_TEST(pinned_outlives_eviction)
{
	struct cache *c;
	struct cache_block *block, *second;
	uint64_t i;

	ck_assert_int_eq(cache_new(100000, &c), 0);
	block = cache_new_block(c, 1000);
	ck_assert_ptr_nonnull(block);
	fill(block, 9, 9);
	cache_insert(c, 9, 9, block);
	for (i = 0; i < 1000; i++)
		use(c, 1, i, 1000);
	ck_assert_ptr_null(cache_get(c, 9, 9));
	check(block, 9, 9);
	cache_put(c, block);

	/* Who comes second keeps a block of its own. */
	use(c, 2, 2, 10);
	second = cache_new_block(c, 10);
	ck_assert_ptr_nonnull(second);
	cache_insert(c, 2, 2, second);
	block = cache_get(c, 2, 2);
	ck_assert_ptr_ne(block, second);
	cache_put(c, block);
	cache_put(c, second);
	cache_free(c);
}
END_TEST

/* What is in use stays in spite of a scan larger than the cache. */
START_TEST(a_scan_leaves_what_is_in_use)
{
	struct cache *c;
	uint64_t i, round, hits = 0;

	ck_assert_int_eq(cache_new(1 << 20, &c), 0);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 300; i++)
			use(c, 1, i, 2000);
	}
	for (i = 0; i < 3000; i++)
		use(c, 2, i, 2000);
	for (i = 0; i < 300; i++)
		hits += use(c, 1, i, 2000);
	ck_assert_uint_ge(hits, 290);
	cache_free(c);
}
END_TEST

/* Small things that stay must not cut up what is evicted between them, or the
 * process would grow to many times the cache. A sanitizer keeps what was freed
 * elsewhere. */
START_TEST(memory_of_what_is_evicted_is_used_again)
{
	enum { COUNT = 2000, SIZE = 40000 };
	static void *small[COUNT];
	struct cache *c;
	uint64_t i;

	ck_assert_int_eq(cache_new(1 << 20, &c), 0);
	for (i = 0; i < COUNT; i++) {
		use(c, 1, i * SIZE, SIZE);
		small[i] = malloc(24);
	}
	ck_assert_uint_lt(mallinfo2().arena, 4 << 20);
	for (i = 0; i < COUNT; i++)
		free(small[i]);
	cache_free(c);
}
END_TEST

static void *work(void *context)
{
	struct cache *c = context;
	uint32_t state = (uint32_t)(uintptr_t)&state >> 4;
	int i;

	for (i = 0; i < 20000; i++) {
		state = state * 1664525 + 1013904223;
		use(c, state >> 30, (state >> 20) % 300, 3000);
		if (i % 1000 == 0)
			cache_forget(c, state >> 30);
	}
	return NULL;
}

START_TEST(threads)
{
	struct cache *c;
	pthread_t ids[4];
	size_t i;

	ck_assert_int_eq(cache_new(1 << 20, &c), 0);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&ids[i], NULL, work, c), 0);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_join(ids[i], NULL), 0);
	ck_assert_uint_le(cache_stats(c).used_size, 1 << 20);
	cache_free(c);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { finds_what_was_inserted,
				 size_is_bound,
				 pinned_outlives_eviction,
				 a_scan_leaves_what_is_in_use,
				 memory_of_what_is_evicted_is_used_again,
				 threads };

	return run_suite("cache", NULL, NULL, tests,
			 sizeof(tests) / sizeof(*tests));
}
