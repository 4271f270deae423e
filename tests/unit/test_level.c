#include <stdlib.h>

#include "store/engine/files/version.h"
#include "tests/sim/rng.h"
#include "tests/unit/suite.h"

#define FILES_MAX 40
#define KEY_MAX 24

static struct rng rng;

/* Of few different bytes, so that many keys begin alike, and are longer or
 * shorter by zeros alone. */
static struct bytes random_key(uint8_t *data, size_t shared)
{
	static const uint8_t letters[] = { 0, 1, 'a', 255 };
	size_t size = shared + rng_below(&rng, (uint32_t)(KEY_MAX - shared)) +
		      1,
	       i;

	memset(data, 'p', shared);
	for (i = shared; i < size; i++)
		data[i] = letters[rng_below(&rng, rng_below(&rng, 4) + 1)];
	return bytes_of(data, size);
}

static int by_largest(const void *a, const void *b)
{
	const struct sst_file *x = a, *y = b;

	return bytes_compare(x->largest, y->largest);
}

/* As many files as have different keys. */
static size_t make_files(struct sst_file *files, uint8_t keys[][KEY_MAX],
			 struct sst_file **list)
{
	size_t shared = rng_below(&rng, 12), wanted, count = 0, i;

	wanted = rng_below(&rng, FILES_MAX) + 1;
	for (i = 0; i < wanted; i++) {
		files[i] = (struct sst_file){
			.largest = random_key(keys[i], shared),
			.largest_exclusive = rng_below(&rng, 2) == 0,
		};
	}
	qsort(files, wanted, sizeof(*files), by_largest);
	for (i = 0; i < wanted; i++)
		if (count == 0 ||
		    !bytes_equal(list[count - 1]->largest, files[i].largest))
			list[count++] = &files[i];
	return count;
}

/* The file that each of all files, asked in turn, tells. */
START_TEST(bisection_finds_what_a_walk_finds)
{
	struct sst_file files[FILES_MAX], *list[FILES_MAX];
	uint8_t keys[FILES_MAX][KEY_MAX], other[KEY_MAX];
	struct level level = { .files = list };
	unsigned int round, n;

	rng = (struct rng){ 14 };
	for (round = 0; round < 3000; round++) {
		level.count = make_files(files, keys, list);
		ck_assert_int_eq(level_index(&level), 0);
		for (n = 0; n < 2 * FILES_MAX; n++) {
			struct bytes key =
				n < level.count
					? list[n]->largest
					: random_key(other,
						     rng_below(&rng, 12));
			size_t walk = 0;

			while (walk < level.count &&
			       sst_file_before(list[walk], key))
				walk++;
			ck_assert_uint_eq(level_find(&level, key), walk);
		}
	}
	free(level.heads);
}
END_TEST

/* As a manifest that was changed may have them: refused later, and no harm. */
START_TEST(files_out_of_order_can_be_indexed)
{
	struct sst_file files[] = {
		{ .largest = BYTES_LITERAL("prefix-b") },
		{ .largest = BYTES_LITERAL("a") },
		{ .largest = BYTES_NONE },
		{ .largest = BYTES_LITERAL("prefix-c") },
	};
	struct sst_file *list[] = { &files[0], &files[1], &files[2],
				    &files[3] };
	struct level level = { .files = list, .count = 4 };

	ck_assert_int_eq(level_index(&level), 0);
	ck_assert_uint_le(level_find(&level, BYTES_LITERAL("prefix-")), 4);
	ck_assert_uint_le(level_find(&level, BYTES_NONE), 4);
	free(level.heads);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		bisection_finds_what_a_walk_finds,
		files_out_of_order_can_be_indexed,
	};

	return run_suite("level", NULL, NULL, tests,
			 sizeof(tests) / sizeof(*tests));
}
