#include <errno.h>

#include "store/engine/compact/merge.h"
#include "store/format/key.h"
#include "tests/unit/suite.h"

/* A source over a sorted array; skip refuses what its contract excludes. */
struct array {
	struct iter iter;
	const struct bytes *keys;
	size_t count, position;
	int fail_after; /* calls; -1: never */
};

static uint32_t state;
static int open_count;

static uint32_t draw(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static int show(struct array *a)
{
	if (a->fail_after == 0)
		return -EIO;
	if (a->fail_after > 0)
		a->fail_after--;
	if (a->position >= a->count)
		return 0;
	a->iter.key = a->iter.value = a->keys[a->position];
	return 1;
}

static int array_seek(struct iter *it, struct bytes key)
{
	struct array *a = (struct array *)it;

	for (a->position = 0; a->position < a->count; a->position++) {
		if (bytes_compare(a->keys[a->position], key) >= 0)
			break;
	}
	return show(a);
}

static int array_next(struct iter *it)
{
	((struct array *)it)->position++;
	return show((struct array *)it);
}

static int array_skip(struct iter *it, struct bytes key)
{
	size_t row_end = key_row_end(it->key);

	ck_assert_uint_gt(row_end, 0);
	ck_assert(!bytes_starts_with(key, bytes_of(it->key.data, row_end)));
	ck_assert_int_gt(bytes_compare(key, it->key), 0);
	return array_seek(it, key);
}

static int array_before(struct iter *it, struct bytes key)
{
	struct array *a = (struct array *)it;
	int result = array_seek(it, key);

	if (result < 0)
		return result;
	if (a->position == 0)
		return 0;
	a->position--;
	return show(a);
}

static void array_close(struct iter *it)
{
	open_count--;
	free(it);
}

static const struct iter_ops array_ops = {
	.seek = array_seek,
	.next = array_next,
	.skip = array_skip,
	.before = array_before,
	.close = array_close,
};

static struct array *array_new(const struct bytes *keys, size_t count)
{
	struct array *a = calloc(1, sizeof(*a));

	ck_assert_ptr_nonnull(a);
	a->iter.ops = &array_ops;
	a->keys = keys;
	a->count = count;
	a->fail_after = -1;
	open_count++;
	return a;
}

#define SOURCES 5
#define KEYS 120

struct setup {
	struct buf memory[KEYS];
	struct bytes all[KEYS], parts[SOURCES][KEYS];
	size_t count, part_count[SOURCES];
	struct array *arrays[SOURCES];
	struct iter *it;
};

/* Keys of few rows, spread over the sources at random. */
static void setup(struct setup *s, size_t sources)
{
	struct iter *iters[SOURCES];
	size_t i, n = draw(KEYS);
	uint8_t row = 0, qualifier = 0;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < n; i++) {
		struct buf *b = &s->memory[i];
		size_t source = draw((uint32_t)(sources ? sources : 1));

		if (draw(4) == 0) {
			row++;
			qualifier = 0;
		}
		qualifier++;
		key_add_table(b, 1);
		key_add_part(b, bytes_of(&row, 1));
		key_add_part(b, bytes_of(&row, 0));
		key_add_part(b, bytes_of(&qualifier, 1));
		key_add_timestamp(b, 1);
		ck_assert_int_eq(key_add_trailer(b, 1, KEY_PUT), 0);
		if (sources == 0)
			continue;
		s->all[s->count++] = buf_bytes(b);
		s->parts[source][s->part_count[source]++] = buf_bytes(b);
	}
	for (i = 0; i < sources; i++) {
		s->arrays[i] = array_new(s->parts[i], s->part_count[i]);
		iters[i] = &s->arrays[i]->iter;
	}
	ck_assert_int_eq(merge_iter_new(iters, sources, &s->it), 0);
}

static void teardown(struct setup *s)
{
	size_t i;

	iter_close(s->it);
	ck_assert_int_eq(open_count, 0);
	for (i = 0; i < KEYS; i++)
		buf_release(&s->memory[i]);
}

static void expect(const struct setup *s, int result, size_t position)
{
	ck_assert_int_eq(result, position < s->count);
	if (result) {
		ck_assert(bytes_equal(s->it->key, s->all[position]));
		ck_assert(bytes_equal(s->it->value, s->all[position]));
	}
}

static size_t find(const struct setup *s, struct bytes key)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (bytes_compare(s->all[i], key) >= 0)
			break;
	}
	return i;
}

/* A key that is there, or the end of a row, or the start of one. */
static void random_target(const struct setup *s, struct buf *target)
{
	struct bytes key = s->memory[0].size ? buf_bytes(&s->memory[0])
					     : BYTES_LITERAL("x");

	if (s->count > 0)
		key = s->all[draw((uint32_t)s->count)];
	switch (draw(3)) {
	case 0:
		ck_assert_int_eq(buf_set(target, key), 0);
		break;
	case 1:
		ck_assert_int_eq(
			buf_set(target, bytes_of(key.data, key_row_end(key))),
			0);
		break;
	default:
		ck_assert_int_eq(
			key_successor(bytes_of(key.data, key_row_end(key)),
				      target),
			0);
	}
}

static int step(struct setup *s, struct buf *target, size_t *at)
{
	struct bytes key = buf_bytes(target);
	struct bytes row;
	int result;

	if (*at >= s->count || draw(8) == 0) {
		result = iter_seek(s->it, key);
		*at = find(s, key);
		return result;
	}
	row = bytes_of(s->it->key.data, key_row_end(s->it->key));
	if (draw(2) && bytes_compare(key, s->it->key) > 0 &&
	    !bytes_starts_with(key, row)) {
		result = iter_skip(s->it, key);
		*at = find(s, key);
		return result;
	}
	*at += 1;
	return iter_next(s->it);
}

START_TEST(merges_like_a_sorted_array)
{
	struct buf target = BUF_INIT;
	struct setup s;
	int round, i;

	for (round = 0; round < 300; round++) {
		size_t at = SIZE_MAX;

		state = (uint32_t)round;
		setup(&s, draw(SOURCES + 1));
		for (i = 0; i < 100; i++) {
			int result;

			random_target(&s, &target);
			if (draw(10) == 0) {
				result = iter_before(s.it, buf_bytes(&target));
				at = find(&s, buf_bytes(&target));
				expect(&s, result, at ? at - 1 : SIZE_MAX);
				at = SIZE_MAX;
				continue;
			}
			result = step(&s, &target, &at);
			expect(&s, result, at);
		}
		teardown(&s);
	}
	buf_release(&target);
}
END_TEST

START_TEST(errors_are_not_ends)
{
	struct setup s;
	int round;

	for (round = 0; round < 200; round++) {
		int result;

		state = (uint32_t)round;
		setup(&s, SOURCES);
		s.arrays[draw(SOURCES)]->fail_after = (int)draw(5);
		result = iter_seek(s.it, BYTES_NONE);
		while (result > 0)
			result = iter_next(s.it);
		if (result == 0) {
			size_t i, left = 0;

			/* Only a source too short to fail may end. */
			for (i = 0; i < SOURCES; i++)
				left += s.arrays[i]->fail_after >= 0;
			ck_assert_uint_eq(left, 1);
		} else {
			ck_assert_int_eq(result, -EIO);
		}
		teardown(&s);
	}
}
END_TEST

int main(void)
{
	const TTest *tests[] = { merges_like_a_sorted_array,
				 errors_are_not_ends };

	return run_suite("merge", NULL, NULL, tests, 2);
}
