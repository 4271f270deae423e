#include <stdio.h>

#include "store/base/err.h"
#include "store/format/sst/sst_build.h"
#include "store/format/sst/sst_tombstones.h"
#include "tests/sim/memory_file.h"
#include "tests/unit/suite.h"
#include "tests/unit/tombstones_of.h"

/* Many range tombstones in pieces tell the same as all of them in memory. */
#define GROUPS 3000

static struct tombstone_pile pile;
static const struct tombstone *items;
static size_t count;
static struct buf file;
static struct cache *cache;
static struct sst *sst;

static struct bytes key_of(unsigned int i)
{
	static char keys[4][40];
	static unsigned int turn;
	char *key = keys[turn++ % 4];

	/* Some are long, so that pieces begin at odd places. */
	snprintf(key, sizeof(keys[0]), "%05u%.*s", i, i % 7 == 0 ? 20 : 0,
		 "long long long long long");
	return bytes_string(key);
}

/* Fragments [2i, 2i + 1) or up to the next one's start, of one sequence or
 * several. */
static void setup(void)
{
	unsigned int i, seqs, n;

	for (i = 0; i < GROUPS; i++) {
		seqs = i % 5 == 0 ? 1 + i % 4 : 1;
		for (n = 0; n < seqs; n++)
			ck_assert_int_eq(
				tombstone_pile_add(
					&pile,
					&(struct tombstone){
						key_of(2 * i),
						key_of(2 * i + 1 + i % 2),
						1000 + i % 100 - n }),
				0);
	}
	items = tombstone_pile_take(&pile, &count);
}

static void open_sst(size_t cache_size)
{
	struct sst_options options = { 0, 10, true, ROW_DIRECTORY_NEVER };
	struct segment_writer *writer;
	struct sst_builder *builder;
	struct reader *reader;
	uint64_t digest;
	size_t i;

	ck_assert_int_eq(memory_file_writer(&file, &writer), 0);
	ck_assert_int_eq(sst_build_new(writer, &options, &builder), 0);
	for (i = 0; i < count; i++)
		ck_assert_int_eq(sst_build_tombstone(builder, &items[i]), 0);
	ck_assert_int_eq(sst_build_finish(builder, &digest), 0);
	ck_assert_int_eq(cache_new(cache_size, &cache), 0);
	ck_assert_int_eq(memory_file_reader(&file, &reader), 0);
	ck_assert_int_eq(sst_open(reader, cache, 1, &sst), 0);
}

static void teardown(void)
{
	sst_close(sst);
	cache_free(cache);
	buf_release(&file);
	tombstone_pile_release(&pile);
}

static void check_all(void)
{
	struct tombstone_list whole = { (struct tombstone *)(uintptr_t)items,
					count, BUF_INIT };
	struct tombstone_pile found = { 0 };
	struct tombstone_reader reader;
	struct tombstone a, b;
	const struct tombstone *all;
	unsigned int i, key;
	size_t n;

	all = tombstones_of(sst, &found, &n);
	ck_assert_uint_eq(n, count);
	for (i = 0; i < n; i++) {
		ck_assert(bytes_equal(all[i].start, items[i].start));
		ck_assert(bytes_equal(all[i].end, items[i].end));
		ck_assert_uint_eq(all[i].seq, items[i].seq);
	}
	tombstone_pile_release(&found);
	tombstone_reader_init(&reader, sst);
	for (i = 0; i < 20000; i++) {
		uint64_t seq = i % 3 ? UINT64_MAX : 990 + i % 120;

		key = i < 2 * GROUPS + 2 ? i : i * 7919 % (2 * GROUPS + 2);
		tombstone_cover(&whole, key_of(key), seq, &a);
		ck_assert_int_eq(
			tombstone_reader_cover(&reader, key_of(key), seq, &b),
			0);
		ck_assert_uint_eq(a.seq, b.seq);
		ck_assert(bytes_equal(a.end, b.end));
	}
	tombstone_reader_release(&reader);
}

START_TEST(pieces_tell_what_the_whole_does)
{
	struct cache_stats stats;

	open_sst(8 << 20);
	check_all();
	stats = cache_stats(cache);
	ck_assert_uint_gt(stats.hit_count, 0);
	/* What stays is little. */
	ck_assert_uint_gt(stats.held_size, 0);
	ck_assert_uint_lt(stats.held_size, count * sizeof(*items) / 50);
}
END_TEST

START_TEST(a_small_cache_has_small_pieces)
{
	open_sst(32 << 10);
	check_all();
	ck_assert_uint_le(cache_stats(cache).used_size, 32 << 10);
}
END_TEST

START_TEST(a_cache_that_keeps_nothing_will_do)
{
	open_sst(0);
	check_all();
}
END_TEST

START_TEST(damage_is_found_when_a_piece_is_read)
{
	struct tombstone_reader reader;
	struct tombstone span;

	open_sst(8 << 20);
	file.data[file.size / 3] ^= 1;
	tombstone_reader_init(&reader, sst);
	ck_assert_int_eq(tombstone_reader_cover(&reader, key_of(2 * GROUPS),
						UINT64_MAX, &span),
			 0);
	ck_assert_int_eq(tombstone_reader_cover(&reader, key_of(2 * GROUPS / 3),
						UINT64_MAX, &span),
			 -ERR_block_checksum);
	tombstone_reader_release(&reader);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		pieces_tell_what_the_whole_does,
		a_small_cache_has_small_pieces,
		a_cache_that_keeps_nothing_will_do,
		damage_is_found_when_a_piece_is_read,
	};

	return run_suite("sst_tombstones", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
