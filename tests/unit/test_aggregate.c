#include <math.h>

#include "store/aggregate.h"
#include "store/base/coding.h"
#include "store/format/hll.h"
#include "tests/unit/suite.h"

#define PARTS 7

static uint64_t state;

static uint64_t draw(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static void add_number(struct aggregate *a, int64_t number)
{
	struct buf one = BUF_INIT;

	ck_assert_int_eq(aggregate_of(a->kind, number, &one), 0);
	ck_assert(aggregate_is_state(a->kind, buf_bytes(&one)));
	ck_assert_int_eq(aggregate_add(a, buf_bytes(&one)), 0);
	buf_release(&one);
}

static int64_t expected(enum aggregate_kind kind, const int64_t *numbers,
			size_t count)
{
	int64_t result = numbers[0];
	size_t i;

	for (i = 1; i < count; i++) {
		if (kind == AGGREGATE_SUM)
			result = (int64_t)((uint64_t)result +
					   (uint64_t)numbers[i]);
		else if ((numbers[i] < result) == (kind == AGGREGATE_MIN))
			result = numbers[i];
	}
	return result;
}

/* Numbers spread over parts, the parts merged in some order, once or twice as
 * deep: it is all the same. */
static void merge_in_parts(enum aggregate_kind kind, const int64_t *numbers,
			   size_t count, struct buf *out)
{
	struct aggregate parts[PARTS] = { 0 }, all = { 0 };
	size_t i, first = draw(PARTS);

	for (i = 0; i < PARTS; i++)
		aggregate_start(&parts[i], kind);
	for (i = 0; i < count; i++)
		add_number(&parts[draw(PARTS)], numbers[i]);
	aggregate_start(&all, kind);
	for (i = 0; i < PARTS; i++) {
		struct aggregate *p = &parts[(first + i) % PARTS];

		ck_assert_int_eq(aggregate_add(&all, buf_bytes(&p->state)), 0);
		aggregate_release(p);
	}
	ck_assert_int_eq(buf_set(out, buf_bytes(&all.state)), 0);
	aggregate_release(&all);
}

START_TEST(order_makes_no_difference)
{
	static int64_t numbers[3000];
	struct buf one = BUF_INIT, other = BUF_INIT;
	int round;

	state = 88172645463325252u;
	for (round = 0; round < 60; round++) {
		size_t count = 1 + draw(round % 2 ? 3000 : 20), i;
		enum aggregate_kind kind = 1 + draw(4);

		for (i = 0; i < count; i++)
			numbers[i] = (int64_t)(draw(2) ? draw(50)
						       : draw(UINT64_MAX));
		merge_in_parts(kind, numbers, count, &one);
		merge_in_parts(kind, numbers, count, &other);
		ck_assert(bytes_equal(buf_bytes(&one), buf_bytes(&other)));
		if (kind != AGGREGATE_HLL)
			ck_assert_int_eq(
				aggregate_number(kind, buf_bytes(&one)),
				expected(kind, numbers, count));
	}
	buf_release(&one);
	buf_release(&other);
}
END_TEST

/* The share by which the estimate of count different numbers is wrong. */
static double error_of(uint64_t first, uint64_t count)
{
	struct aggregate a = { 0 };
	uint64_t i;
	double error;

	aggregate_start(&a, AGGREGATE_HLL);
	for (i = 0; i < count; i++) {
		add_number(&a, (int64_t)(first + i));
		if (i % 3 == 0)
			add_number(&a, (int64_t)(first + i / 2));
	}
	error = (double)aggregate_number(AGGREGATE_HLL, buf_bytes(&a.state)) /
			(double)count -
		1;
	aggregate_release(&a);
	return fabs(error);
}

START_TEST(distinct_counts_are_within_their_bound)
{
	double sum = 0;
	int i;

	ck_assert_double_eq(error_of(5, 10), 0);
	ck_assert_double_eq(error_of(7, 1000), 0);
	ck_assert_double_eq(error_of(7, HLL_SPARSE_MAX), 0);
	ck_assert_double_lt(error_of(9, 1000000), 0.025);
	/* The bound is that of one in 500: the mean is far below. */
	for (i = 0; i < 40; i++) {
		double error = error_of((uint64_t)i << 32, 20000);

		ck_assert_double_lt(error, 0.035);
		sum += error;
	}
	ck_assert_double_lt(sum / 40, 0.0104 * 0.8);
}
END_TEST

/* A state that somebody made up: no numbers fill every register. */
START_TEST(a_count_without_end_is_the_greatest_number)
{
	uint8_t full[HLL_HEAD_SIZE + HLL_REGISTERS];
	struct bytes sketch = bytes_of(full, sizeof(full));

	memset(full, 64 - HLL_PRECISION + 1, sizeof(full));
	full[0] = 1;
	full[1] = 1;
	ck_assert(hll_is_sketch(sketch));
	ck_assert_uint_eq(hll_estimate(sketch), INT64_MAX);
}
END_TEST

START_TEST(bytes_that_are_no_state_add_nothing)
{
	struct aggregate a = { 0 };
	uint8_t sketch[HLL_HEAD_SIZE + 16] = { 1, 0 };

	aggregate_start(&a, AGGREGATE_SUM);
	add_number(&a, 5);
	ck_assert_int_eq(aggregate_add(&a, BYTES_LITERAL("seven!!")), 0);
	ck_assert_int_eq(aggregate_add(&a, BYTES_NONE), 0);
	ck_assert_int_eq(aggregate_number(a.kind, buf_bytes(&a.state)), 5);
	aggregate_start(&a, AGGREGATE_HLL);
	add_number(&a, 5);
	/* Hashes that do not ascend, an unknown version, an unknown form. */
	ck_assert(!hll_is_sketch(bytes_of(sketch, sizeof(sketch))));
	put_u64be(sketch + HLL_HEAD_SIZE + 8, 1);
	ck_assert(hll_is_sketch(bytes_of(sketch, sizeof(sketch))));
	sketch[0] = 2;
	ck_assert_int_eq(aggregate_add(&a, bytes_of(sketch, sizeof(sketch))),
			 0);
	sketch[0] = 1;
	sketch[1] = 2;
	ck_assert_int_eq(aggregate_add(&a, bytes_of(sketch, sizeof(sketch))),
			 0);
	ck_assert_int_eq(aggregate_number(a.kind, buf_bytes(&a.state)), 1);
	aggregate_release(&a);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { order_makes_no_difference,
				 distinct_counts_are_within_their_bound,
				 a_count_without_end_is_the_greatest_number,
				 bytes_that_are_no_state_add_nothing };

	return run_suite("aggregate", NULL, NULL, tests, 4);
}
