#include "store/base/coding.h"
#include "store/engine/memory/parts.h"
#include "tests/unit/suite.h"

#define NUMBER_STEPS_MAX 16
#define SKETCH_STEPS_MAX 240

static struct arena arena;
static struct buf scratch, value;

static void set_up(void)
{
	ck_assert_int_eq(arena_init(&arena, 64 << 20), 0);
}

static void tear_down(void)
{
	arena_release(&arena);
	buf_release(&scratch);
	buf_release(&value);
}

/* A part with this value, which goes on from older. */
static uint32_t add(uint32_t older, struct bytes v, size_t room)
{
	uint32_t place = arena_alloc(&arena, sizeof(struct part) + v.size);
	struct part *p = arena_at(&arena, place);

	ck_assert_uint_ne(place, 0);
	p->size = (uint32_t)v.size;
	p->first = place;
	memcpy(p + 1, v.data, v.size);
	part_link(&arena, place, older, room, &scratch);
	return place;
}

static uint32_t add_number(uint32_t older, enum aggregate_kind kind,
			   int64_t number, size_t room)
{
	buf_reset(&value);
	ck_assert_int_eq(aggregate_of(kind, number, &value), 0);
	return add(older, buf_bytes(&value), room);
}

/* Parts that are looked at to merge the chain from place on. */
static unsigned int steps_at(uint32_t place)
{
	const struct part *p = arena_at(&arena, place);
	unsigned int steps = 1;

	for (; p->older && !p->joined; p = arena_at(&arena, p->older))
		steps++;
	return steps;
}

static int64_t number_at(uint32_t place, enum aggregate_kind kind)
{
	struct aggregate a = { 0 };
	int64_t number;

	aggregate_start(&a, kind);
	ck_assert_int_eq(part_merge(&arena, arena_at(&arena, place), &a), 0);
	number = aggregate_number(kind, buf_bytes(&a.state));
	aggregate_release(&a);
	return number;
}

/* Each part of a long chain tells the sum, least and greatest up to there, by
 * few steps, and no earlier one is changed by a later. */
START_TEST(numbers)
{
	enum { PARTS = 20000 };
	static uint32_t places[PARTS];
	size_t used = 0;
	int64_t i;

	for (i = 0; i < PARTS; i++) {
		places[i] = add_number(i ? places[i - 1] : 0, AGGREGATE_SUM,
				       i - 10, SIZE_MAX);
		used = arena_used(&arena);
	}
	for (i = 0; i < PARTS; i++) {
		const struct part *p = arena_at(&arena, places[i]);

		ck_assert_uint_eq(p->first, places[0]);
		ck_assert_uint_le(steps_at(places[i]), NUMBER_STEPS_MAX);
		ck_assert_int_eq(number_at(places[i], AGGREGATE_SUM),
				 i * (i + 1) / 2 - 10 * (i + 1));
		ck_assert_int_eq(number_at(places[i], AGGREGATE_MIN), -10);
		ck_assert_int_eq(number_at(places[i], AGGREGATE_MAX), i - 10);
	}
	ck_assert_uint_eq(arena_used(&arena), used);
	/* 32 bytes each, and no more than 3 for what is kept. */
	ck_assert_uint_le(used, PARTS * 35);
}
END_TEST

/* Sketches take memory in proportion to what is added, and few steps. */
START_TEST(sketches)
{
	enum { PARTS = 20000 };
	uint32_t place = 0;
	int64_t i, number;

	for (i = 0; i < PARTS; i++) {
		place = add_number(place, AGGREGATE_HLL, i, SIZE_MAX);
		ck_assert_uint_le(steps_at(place), SKETCH_STEPS_MAX);
		if (i == 1000)
			ck_assert_int_eq(number_at(place, AGGREGATE_HLL),
					 i + 1);
	}
	number = number_at(place, AGGREGATE_HLL);
	ck_assert_int_gt(number, PARTS * 97 / 100);
	ck_assert_int_lt(number, PARTS * 103 / 100);
	ck_assert_uint_le(arena_used(&arena), PARTS * (32 + 80));
}
END_TEST

/* A large state is kept at the next part, at the price of its own size. */
START_TEST(large_sketches)
{
	struct aggregate large = { 0 };
	struct buf one = BUF_INIT;
	uint32_t place = 0;
	int64_t i;

	aggregate_start(&large, AGGREGATE_HLL);
	for (i = 0; i < 5000; i++) {
		buf_reset(&one);
		ck_assert_int_eq(aggregate_of(AGGREGATE_HLL, i, &one), 0);
		ck_assert_int_eq(aggregate_add(&large, buf_bytes(&one)), 0);
	}
	for (i = 0; i < 500; i++) {
		place = add(place, buf_bytes(&large.state), SIZE_MAX);
		ck_assert_uint_le(steps_at(place), 3);
	}
	ck_assert_int_eq(
		number_at(place, AGGREGATE_HLL),
		aggregate_number(AGGREGATE_HLL, buf_bytes(&large.state)));
	ck_assert_uint_le(arena_used(&arena), 500 * 2 * large.state.size);
	aggregate_release(&large);
	buf_release(&one);
}
END_TEST

/* Without room nothing is kept, and where sorts are mixed: the answer is the
 * same. */
START_TEST(nothing_kept)
{
	uint32_t place = 0;
	int64_t i;

	for (i = 0; i < 1000; i++)
		place = add_number(place, AGGREGATE_SUM, i, 30);
	ck_assert_uint_eq(steps_at(place), 1000);
	ck_assert_int_eq(number_at(place, AGGREGATE_SUM), 999 * 500);
	for (i = 0; i < 1000; i++)
		place = i % 10 ? add_number(place, AGGREGATE_SUM, i, SIZE_MAX)
			       : add(place, BYTES_LITERAL("text"), SIZE_MAX);
	ck_assert_int_eq(number_at(place, AGGREGATE_SUM),
			 999 * 500 + 999 * 500 - 495 * 100);
	place = add_number(place, AGGREGATE_HLL, 7, SIZE_MAX);
	ck_assert_int_eq(number_at(place, AGGREGATE_HLL), 1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { numbers, sketches, large_sketches,
				 nothing_kept };

	return run_suite("parts", set_up, tear_down, tests, 4);
}
