#include "store/base/err.h"
#include "store/engine/compact/compact.h"
#include "store/engine/compact/level0.h"
#include "store/engine/compact/pick_dead.h"
#include "store/engine/compact/pick.h"
#include "store/format/sst/sst_build.h"
#include "tests/sim/memory_file.h"
#include "tests/unit/suite.h"

#define MIB (UINT64_C(1) << 20)
#define FILES_MAX 40

static const struct compaction_options options = { 4, 128 * MIB, 10, false };
static struct cache *cache;
static struct version *version;
static struct buf contents[FILES_MAX];
static size_t file_count;
static struct compaction picked;

static void unused(struct file_owner *owner, uint64_t id, uint64_t size)
{
	(void)owner;
	(void)size;
	(void)id;
}

static struct file_owner owner = { .unused = unused };

static void setup(void)
{
	ck_assert_int_eq(cache_new(1 << 20, &cache), 0);
	ck_assert_int_eq(version_new(&version), 0);
	file_count = 0;
}

static void teardown(void)
{
	compaction_release(&picked);
	version_put(version);
	cache_free(cache);
	while (file_count > 0)
		buf_release(&contents[--file_count]);
}

static void add_key(struct sst_builder *b, const char *row, uint64_t timestamp,
		    uint64_t seq, enum key_kind kind)
{
	struct buf key = BUF_INIT;

	key_add_table(&key, 1);
	key_add_part(&key, bytes_string(row));
	key_add_part(&key, BYTES_LITERAL("f"));
	key_add_part(&key, BYTES_LITERAL("q"));
	key_add_timestamp(&key, timestamp);
	ck_assert_int_eq(key_add_trailer(&key, seq, kind), 0);
	ck_assert_int_eq(sst_build_add(b, buf_bytes(&key), BYTES_NONE), 0);
	buf_release(&key);
}

/* A file with the first and the last key given, said to have this size. Its id
 * is its number, from 1. */
static void add_file(unsigned int level, const char *first,
		     uint64_t first_timestamp, const char *last,
		     uint64_t last_timestamp, enum key_kind kind, uint64_t size)
{
	struct sst_options build = { 1, 10, true, 0 };
	struct buf *content = &contents[file_count++];
	struct segment_writer *writer;
	struct sst_builder *b;
	struct reader *reader;
	struct sst_file *f;
	struct sst *sst;

	ck_assert_int_eq(memory_file_writer(content, &writer), 0);
	ck_assert_int_eq(sst_build_new(writer, &build, &b), 0);
	add_key(b, first, first_timestamp, 2, kind);
	add_key(b, last, last_timestamp, 1, KEY_PUT);
	ck_assert_int_eq(sst_build_finish(b, NULL), 0);
	ck_assert_int_eq(memory_file_reader(content, &reader), 0);
	ck_assert_int_eq(sst_open(reader, cache, file_count, &sst), 0);
	ck_assert_int_eq(sst_file_open(sst, file_count, size, 0, &owner, &f),
			 0);
	ck_assert_int_eq(version_add(version, level, f), 0);
	sst_file_put(f);
}

static void add_plain(unsigned int level, const char *first, const char *last,
		      uint64_t size)
{
	add_file(level, first, 9, last, 1, KEY_PUT, size);
}

static int pick(void)
{
	ck_assert_int_eq(version_sort(version), 0);
	compaction_release(&picked);
	return compact_pick(version, &options, &picked);
}

START_TEST(level0_goes_to_the_first_level_in_use)
{
	int i;

	for (i = 0; i < 3; i++)
		add_plain(0, "c", "m", 2 * MIB);
	ck_assert_int_eq(pick(), 0);
	add_plain(0, "m", "n", 10 * MIB);
	add_plain(6, "a", "b", 32 * MIB);
	add_plain(6, "k", "l", 32 * MIB);
	add_plain(6, "x", "y", 16 * MIB);
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.level, 0);
	ck_assert_uint_eq(picked.output_level, 6);
	ck_assert_uint_eq(picked.input_count[0], 4);
	ck_assert_uint_eq(picked.input_count[1], 1);
	ck_assert_uint_eq(picked.inputs[1][0]->id, 6);
	ck_assert(!picked.trivial);

	/* The lowest level has outgrown the base size: one more is used. */
	add_plain(6, "p", "q", 1000 * MIB);
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.output_level, 5);
	ck_assert_uint_eq(picked.input_count[1], 0);

	/* Nothing may pass older data above that. */
	add_plain(3, "s", "t", 1);
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.output_level, 3);
}
END_TEST

/* Of level 0 only those that overlap are merged with what is below them: the
 * deepest group, or once there is much, the cheapest. */
START_TEST(level0_goes_down_by_groups)
{
	add_plain(6, "a", "c", 12 * MIB);
	add_plain(6, "e", "g", 3 * MIB);
	add_plain(0, "a", "b", 2 * MIB);
	add_plain(0, "e", "f", 2 * MIB);
	add_plain(0, "b", "c", 2 * MIB);
	ck_assert_int_eq(pick(), 0);
	version->levels[0].size += 3 * MIB;
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.input_count[0], 1);
	ck_assert_uint_eq(picked.inputs[0][0]->id, 4);
	ck_assert_uint_eq(picked.input_count[1], 1);
	ck_assert_uint_eq(picked.inputs[1][0]->id, 2);

	add_plain(0, "a", "c", MIB);
	add_plain(0, "a", "c", MIB);
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.input_count[0], 4);
	ck_assert_uint_eq(picked.input_count[1], 1);
	ck_assert_uint_eq(picked.inputs[1][0]->id, 1);
	ck_assert_uint_eq(level0_depth(version), 4);

	/* Not while what is below is much more. */
	version->levels[0].size -= 5 * MIB;
	version->levels[6].files[0]->size = 26 * MIB;
	compaction_release(&picked);
	ck_assert_int_eq(compact_pick(version, &options, &picked), 0);
}
END_TEST

/* While somebody writes more of it is gathered, for what is below. */
START_TEST(writers_and_readers_have_their_say)
{
	struct compaction_options writing = options;
	int i;

	writing.writing = true;
	add_plain(6, "a", "c", 12 * MIB);
	add_plain(6, "e", "g", 100 * MIB);
	for (i = 0; i < 4; i++)
		add_plain(0, "a", "b", 2 * MIB);
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.input_count[0], 4);
	compaction_release(&picked);
	ck_assert_int_eq(compact_pick(version, &writing, &picked), 0);
	/* As much as is below; or too many files; or too much. */
	version->levels[6].files[0]->size = 8 * MIB;
	ck_assert_int_eq(compact_pick(version, &writing, &picked), 1);
	compaction_release(&picked);
	version->levels[6].files[0]->size = 12 * MIB;
	version->levels[0].size = 33 * MIB;
	ck_assert_int_eq(compact_pick(version, &writing, &picked), 0);
	version->levels[0].size = 40 * MIB;
	ck_assert_int_eq(compact_pick(version, &writing, &picked), 1);
	ck_assert_uint_eq(picked.input_count[0], 4);
	compaction_release(&picked);
	version->levels[0].size = 8 * MIB;
	for (; i < 32; i++) {
		ck_assert_int_eq(compact_pick(version, &writing, &picked), 0);
		add_plain(0, "a", "b", MIB / 16);
		ck_assert_int_eq(version_sort(version), 0);
	}
	ck_assert_int_eq(compact_pick(version, &writing, &picked), 1);
	ck_assert_uint_eq(picked.input_count[0], 32);
}
END_TEST

/* Level 0 with a file of each size above one of 25 MiB. */
static int pick_of_groups(const uint64_t *size)
{
	static const char *const first[] = { "a", "c", "e", "g" };
	static const char *const last[] = { "b", "d", "f", "h" };
	struct compaction_options writing = options;
	int i, found;

	writing.writing = true;
	for (i = 0; i < 4; i++) {
		add_plain(6, first[i], last[i], 25 * MIB);
		add_plain(0, first[i], last[i], size[i] * MIB);
	}
	ck_assert_int_eq(version_sort(version), 0);
	found = compact_pick(version, &writing, &picked);
	teardown();
	setup();
	return found;
}

/* So that they do not all go when level 0 is full. */
START_TEST(groups_that_fill_in_step_are_parted)
{
	static const uint64_t few[] = { 4, 4, 4, 4 }, alike[] = { 6, 6, 6, 6 },
			      in_turn[] = { 3, 5, 8, 10 },
			      full[] = { 4, 6, 11, 13 };

	ck_assert_int_eq(pick_of_groups(few), 0);
	ck_assert_int_eq(pick_of_groups(alike), 1);
	ck_assert_int_eq(pick_of_groups(in_turn), 0);
	ck_assert_int_eq(pick_of_groups(full), 1);
}
END_TEST

/* What was written in order is not written again. */
START_TEST(level0_moves_down_as_it_is)
{
	add_plain(0, "g", "h", 10 * MIB);
	add_plain(0, "c", "d", 10 * MIB);
	add_plain(0, "e", "f", 10 * MIB);
	add_plain(0, "a", "b", 10 * MIB);
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.input_count[0], 4);
	ck_assert(picked.trivial);

	/* Small files become a large one. */
	compaction_release(&picked);
	version->levels[0].files[0]->size = 100;
	version->levels[0].files[1]->size = 100;
	version->levels[0].files[2]->size = 100;
	version->levels[0].files[3]->size = 100;
	ck_assert_int_eq(pick(), 1);
	ck_assert(!picked.trivial);

	/* So do those of which one begins in a column of another. */
	version->levels[0].files[0]->size = 100 * MIB;
	ck_assert_int_eq(pick(), 1);
	ck_assert(picked.trivial);
	add_file(0, "h", 1, "i", 1, KEY_PUT, 10 * MIB);
	ck_assert_int_eq(pick(), 1);
	ck_assert(picked.input_count[0] == 2 || picked.inputs[0][0]->id != 1);
}
END_TEST

START_TEST(the_cheapest_file_moves_down)
{
	add_plain(6, "a", "z", 1500 * MIB);
	add_plain(5, "b", "c", 100 * MIB);
	ck_assert_int_eq(pick(), 0);
	add_plain(5, "zz", "zzz", 90 * MIB);
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.level, 5);
	ck_assert_uint_eq(picked.output_level, 6);
	ck_assert_uint_eq(picked.input_count[0], 1);
	ck_assert_uint_eq(picked.inputs[0][0]->id, 3);
	ck_assert(picked.trivial);

	/* One full of deletes goes first, and is not merely moved. */
	add_file(5, "zzzz", 9, "zzzzz", 1, KEY_DELETE, 10 * MIB);
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.inputs[0][0]->id, 4);
	ck_assert_uint_eq(picked.input_count[1], 0);
	ck_assert(!picked.trivial);
}
END_TEST

/* A delete may not go down beside the older write of the same version. */
START_TEST(files_that_share_a_column_are_merged)
{
	add_plain(6, "c", "d", 1500 * MIB);
	add_file(5, "a", 9, "c", 10, KEY_PUT, 200 * MIB);
	ck_assert_int_eq(pick(), 1);
	ck_assert_uint_eq(picked.input_count[1], 1);
	ck_assert(!picked.trivial);
}
END_TEST

START_TEST(a_range_goes_down_to_the_end)
{
	struct bytes start = BYTES_LITERAL("\0\0\0\1b");
	struct bytes end = BYTES_LITERAL("\0\0\0\1e");

	add_plain(5, "a", "az", 1);
	add_plain(4, "f", "g", 1);
	add_plain(6, "c", "d", 1);
	ck_assert_int_eq(version_sort(version), 0);
	ck_assert_int_eq(compact_pick_range(version, start, end, &picked), 0);
	ck_assert_int_eq(compact_pick_bottom(version, start, end, 3, &picked),
			 0);
	ck_assert_int_eq(compact_pick_bottom(version, start, end, 4, &picked),
			 1);
	ck_assert_uint_eq(picked.inputs[0][0]->id, 3);
	ck_assert_uint_eq(picked.level, 6);
	ck_assert_uint_eq(picked.output_level, 6);
	compaction_release(&picked);

	add_plain(0, "d", "h", 1);
	ck_assert_int_eq(version_sort(version), 0);
	ck_assert_int_eq(compact_pick_range(version, start, end, &picked), 1);
	ck_assert_uint_eq(picked.level, 0);
	ck_assert_uint_eq(picked.output_level, 4);
	ck_assert_uint_eq(picked.input_count[1], 1);
	compaction_release(&picked);
	ck_assert_int_eq(compact_pick_range(version, BYTES_NONE,
					    BYTES_LITERAL("\0\0\0\1c"),
					    &picked),
			 1);
	ck_assert_uint_eq(picked.level, 5);
}
END_TEST

/* Though the next level has nothing there. */
START_TEST(deletions_go_down_for_what_lies_lower)
{
	add_file(0, "a", 9, "c", 1, KEY_DELETE, MIB);
	add_plain(5, "x", "y", MIB);
	add_plain(6, "d", "e", 10 * MIB);
	add_plain(6, "a", "c", 10 * MIB);
	ck_assert_int_eq(version_sort(version), 0);
	ck_assert_int_eq(compact_pick_deletions(version, &picked), 1);
	ck_assert_uint_eq(picked.output_level, 5);
	ck_assert_uint_eq(picked.input_count[0], 1);
	ck_assert_uint_eq(picked.input_count[1], 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { level0_goes_to_the_first_level_in_use,
				 level0_goes_down_by_groups,
				 writers_and_readers_have_their_say,
				 groups_that_fill_in_step_are_parted,
				 level0_moves_down_as_it_is,
				 the_cheapest_file_moves_down,
				 files_that_share_a_column_are_merged,
				 a_range_goes_down_to_the_end,
				 deletions_go_down_for_what_lies_lower };

	return run_suite("pick", setup, teardown, tests,
			 sizeof(tests) / sizeof(*tests));
}
