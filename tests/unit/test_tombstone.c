#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/format/key.h"
#include "store/format/tombstone.h"
#include "tests/unit/suite.h"

#define ITEMS_MAX 12
#define LETTERS 12 /* keys are one letter */

static uint32_t state;
static const uint8_t letters[] = "abcdefghijkl";

static uint32_t draw(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static struct bytes key_of(size_t i)
{
	return bytes_of(letters + i, 1);
}

static size_t random_items(struct tombstone *items)
{
	size_t count = draw(ITEMS_MAX + 1), i;

	for (i = 0; i < count; i++) {
		items[i].start = key_of(draw(LETTERS));
		items[i].end = key_of(draw(LETTERS));
		items[i].seq = 1 + draw(20);
	}
	return count;
}

static uint64_t naive_cover(const struct tombstone *items, size_t count,
			    struct bytes key, uint64_t visible)
{
	uint64_t best = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (items[i].seq <= visible && items[i].seq > best &&
		    bytes_compare(items[i].start, key) <= 0 &&
		    bytes_compare(key, items[i].end) < 0)
			best = items[i].seq;
	}
	return best;
}

static void check_order(const struct tombstone_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct tombstone *t = &list->items[i];

		ck_assert_int_lt(bytes_compare(t->start, t->end), 0);
		if (i == 0)
			continue;
		if (bytes_equal(t->start, t[-1].start)) {
			ck_assert(bytes_equal(t->end, t[-1].end));
			ck_assert_uint_lt(t->seq, t[-1].seq);
		} else {
			ck_assert_int_le(bytes_compare(t[-1].end, t->start), 0);
		}
	}
}

/* Every key of the span has the same answer. */
static void check_span(const struct tombstone_list *list,
		       const struct tombstone *span, size_t at,
		       uint64_t visible)
{
	size_t i;

	ck_assert_int_le(bytes_compare(span->start, key_of(at)), 0);
	ck_assert(span->end.size == 0 ||
		  bytes_compare(key_of(at), span->end) < 0);
	for (i = 0; i < LETTERS; i++) {
		if (bytes_compare(span->start, key_of(i)) <= 0 &&
		    (span->end.size == 0 ||
		     bytes_compare(key_of(i), span->end) < 0))
			ck_assert_uint_eq(
				tombstone_cover(list, key_of(i), visible, NULL),
				span->seq);
	}
}

START_TEST(covers_like_the_items)
{
	int round;

	for (round = 0; round < 3000; round++) {
		struct tombstone_list list = TOMBSTONE_LIST_INIT;
		struct tombstone items[ITEMS_MAX], span;
		uint64_t snapshots[3];
		size_t count, snapshot_count, i, j;

		state = (uint32_t)round;
		count = random_items(items);
		snapshot_count = draw(4);
		for (i = 0; i < snapshot_count; i++)
			snapshots[i] = (i ? snapshots[i - 1] : 0) + draw(8);
		ck_assert_int_eq(tombstone_fragment(items, count, snapshots,
						    snapshot_count, &list),
				 0);
		check_order(&list);
		for (i = 0; i < LETTERS; i++) {
			for (j = 0; j <= snapshot_count; j++) {
				uint64_t visible = j < snapshot_count
							   ? snapshots[j]
							   : UINT64_MAX;

				ck_assert_uint_eq(
					tombstone_cover(&list, key_of(i),
							visible, &span),
					naive_cover(items, count, key_of(i),
						    visible));
				check_span(&list, &span, i, visible);
			}
		}
		tombstone_list_release(&list);
	}
}
END_TEST

#define NESTED 50000

/* Each inside the one before and newer: all of them cover the middle. What
 * nobody needs is not gone through for each of the others. */
START_TEST(nested_are_no_more_than_snapshots_need)
{
	const uint64_t snapshots[] = { NESTED / 3, NESTED / 2 };
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct tombstone *items = calloc(NESTED, sizeof(*items));
	uint8_t(*bounds)[4] = calloc(2 * NESTED, sizeof(*bounds));
	struct bytes middle;
	size_t i;

	ck_assert(items && bounds);
	for (i = 0; i < NESTED; i++) {
		put_u32be(bounds[i], (uint32_t)i);
		put_u32be(bounds[2 * NESTED - 1 - i],
			  (uint32_t)(2 * NESTED - i));
		items[i].start = bytes_of(bounds[i], 4);
		items[i].end = bytes_of(bounds[2 * NESTED - 1 - i], 4);
		items[i].seq = i + 1;
	}
	middle = items[NESTED - 1].start;
	ck_assert_int_eq(tombstone_fragment(items, NESTED, snapshots, 2, &list),
			 0);
	check_order(&list);
	ck_assert_uint_lt(list.count, 2 * NESTED * 3);
	ck_assert_uint_eq(tombstone_cover(&list, middle, UINT64_MAX, NULL),
			  NESTED);
	for (i = 0; i < 2; i++)
		ck_assert_uint_eq(
			tombstone_cover(&list, middle, snapshots[i], NULL),
			snapshots[i]);
	tombstone_list_release(&list);
	free(bounds);
	free(items);
}
END_TEST

START_TEST(older_under_newer_goes)
{
	struct tombstone items[] = {
		{ BYTES_LITERAL("a"), BYTES_LITERAL("z"), 9 },
		{ BYTES_LITERAL("c"), BYTES_LITERAL("d"), 5 },
		{ BYTES_LITERAL("e"), BYTES_LITERAL("g"), 3 },
	};
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	uint64_t snapshot = 4;

	ck_assert_int_eq(tombstone_fragment(items, 3, NULL, 0, &list), 0);
	ck_assert_uint_eq(list.count, 1);
	ck_assert(bytes_equal(list.items[0].end, BYTES_LITERAL("z")));
	tombstone_list_release(&list);
	ck_assert_int_eq(tombstone_fragment(items, 3, &snapshot, 1, &list), 0);
	/* [a,e) 9, [e,g) 9 and 3, [g,z) 9 */
	ck_assert_uint_eq(list.count, 4);
	tombstone_list_release(&list);
	ck_assert_int_eq(tombstone_fragment(NULL, 0, NULL, 0, &list), 0);
	ck_assert_uint_eq(list.count, 0);
	tombstone_list_release(&list);
}
END_TEST

/* Whatever is decoded keeps the order that lookup rests on. */
static void decode_damaged(struct bytes block)
{
	struct tombstone_list list;
	uint8_t *copy = malloc(block.size + 1);
	size_t i;
	int bit, err;

	ck_assert_ptr_nonnull(copy);
	for (i = 0; i < block.size; i++) {
		for (bit = 0; bit < 8; bit++) {
			memcpy(copy, block.data, block.size);
			copy[i] ^= (uint8_t)(1 << bit);
			err = tombstone_decode(bytes_of(copy, block.size),
					       &list);
			if (!err)
				check_order(&list);
			else
				ck_assert_int_eq(err, -ERR_block_malformed);
			tombstone_list_release(&list);
		}
		err = tombstone_decode(bytes_of(copy, i), &list);
		if (!err)
			check_order(&list);
		else
			ck_assert_int_eq(err, -ERR_block_malformed);
		tombstone_list_release(&list);
	}
	free(copy);
}

/* Bounds are searched for, and no key is so long. */
START_TEST(bounds_longer_than_a_key)
{
	struct tombstone_list list;
	struct buf start = BUF_INIT, block = BUF_INIT;
	struct tombstone t = { .end = BYTES_LITERAL("b"), .seq = 1 };
	size_t i;

	for (i = 0; i <= KEY_SIZE_MAX; i++)
		ck_assert_int_eq(buf_add_byte(&start, 'a'), 0);
	t.start = bytes_of(start.data, KEY_SIZE_MAX);
	ck_assert_int_eq(tombstone_encode(&t, &block), 0);
	ck_assert_int_eq(tombstone_decode(buf_bytes(&block), &list), 0);
	tombstone_list_release(&list);
	buf_reset(&block);
	t.start = buf_bytes(&start);
	ck_assert_int_eq(tombstone_encode(&t, &block), 0);
	ck_assert_int_eq(tombstone_decode(buf_bytes(&block), &list),
			 -ERR_block_malformed);
	buf_release(&start);
	buf_release(&block);
}
END_TEST

START_TEST(encoding)
{
	struct buf b = BUF_INIT;
	int round;

	for (round = 0; round < 300; round++) {
		struct tombstone_list list = TOMBSTONE_LIST_INIT, back;
		struct tombstone items[ITEMS_MAX];
		uint64_t snapshots[] = { 3, 7, 12 };
		size_t count, i;

		state = (uint32_t)round;
		count = random_items(items);
		ck_assert_int_eq(
			tombstone_fragment(items, count, snapshots, 3, &list),
			0);
		buf_reset(&b);
		for (i = 0; i < list.count; i++)
			ck_assert_int_eq(tombstone_encode(&list.items[i], &b),
					 0);
		ck_assert_int_eq(tombstone_decode(buf_bytes(&b), &back), 0);
		ck_assert_uint_eq(back.count, list.count);
		for (i = 0; i < back.count; i++) {
			ck_assert(bytes_equal(back.items[i].start,
					      list.items[i].start));
			ck_assert(bytes_equal(back.items[i].end,
					      list.items[i].end));
			ck_assert_uint_eq(back.items[i].seq, list.items[i].seq);
		}
		if (round < 20)
			decode_damaged(buf_bytes(&b));
		ck_assert_int_eq(buf_add_byte(&b, 0), 0);
		tombstone_list_release(&back);
		ck_assert_int_eq(tombstone_decode(buf_bytes(&b), &back),
				 -ERR_block_malformed);
		tombstone_list_release(&list);
	}
	buf_release(&b);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { covers_like_the_items, older_under_newer_goes,
				 nested_are_no_more_than_snapshots_need,
				 bounds_longer_than_a_key, encoding };

	return run_suite("tombstone", NULL, NULL, tests, 5);
}
