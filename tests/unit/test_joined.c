#include "store/base/coding.h"
#include "store/format/hll.h"
#include "store/format/joined.h"
#include "tests/unit/suite.h"

static const int64_t numbers[] = { 5, -7, INT64_MAX, 3, 5, INT64_MIN, 0, -1 };

#define COUNT (sizeof(numbers) / sizeof(numbers[0]))

/* The state of what joined bytes hold, beside adding one by one. */
START_TEST(as_one_by_one)
{
	struct buf joined = BUF_INIT, one = BUF_INIT;
	struct aggregate a = { 0 };
	int64_t number;
	size_t i;
	int kind;

	for (kind = AGGREGATE_SUM; kind <= AGGREGATE_HLL; kind++) {
		buf_reset(&joined);
		aggregate_start(&a, (enum aggregate_kind)kind);
		for (i = 0; i < 1000 * COUNT; i++) {
			buf_reset(&one);
			number = (int64_t)((uint64_t)numbers[i % COUNT] - i);
			ck_assert_int_eq(aggregate_of(a.kind, number, &one), 0);
			ck_assert_int_eq(aggregate_add(&a, buf_bytes(&one)), 0);
			ck_assert_int_eq(joined_add(&joined, buf_bytes(&one)),
					 1);
			ck_assert(bytes_equal(
				joined_state(buf_bytes(&joined), a.kind),
				buf_bytes(&a.state)));
		}
	}
	aggregate_release(&a);
	buf_release(&one);
	buf_release(&joined);
}
END_TEST

/* Numbers and sketches do not mix, and what is neither is not taken. */
START_TEST(sorts_do_not_mix)
{
	struct bytes number = BYTES_LITERAL("\0\0\0\0\0\0\0\5");
	struct buf joined = BUF_INIT, sketch = BUF_INIT;
	struct bytes state;

	ck_assert_int_eq(hll_of(7, &sketch), 0);
	ck_assert_int_eq(joined_add(&joined, BYTES_LITERAL("text")), 0);
	ck_assert_int_eq(joined_add(&joined, BYTES_NONE), 0);
	ck_assert_uint_eq(joined.size, 0);
	ck_assert_int_eq(joined_add(&joined, number), 1);
	ck_assert_int_eq(joined_add(&joined, buf_bytes(&sketch)), 0);
	ck_assert_int_eq(joined_add(&joined, BYTES_LITERAL("text")), 0);
	state = joined_state(buf_bytes(&joined), AGGREGATE_MIN);
	ck_assert(bytes_equal(state, number));
	state = joined_state(buf_bytes(&joined), AGGREGATE_HLL);
	ck_assert_uint_eq(state.size, 0);

	buf_reset(&joined);
	ck_assert_int_eq(joined_add(&joined, buf_bytes(&sketch)), 1);
	ck_assert_int_eq(joined_add(&joined, number), 0);
	state = joined_state(buf_bytes(&joined), AGGREGATE_SUM);
	ck_assert_uint_eq(state.size, 0);
	state = joined_state(buf_bytes(&joined), AGGREGATE_HLL);
	ck_assert(bytes_equal(state, buf_bytes(&sketch)));
	buf_release(&joined);
	buf_release(&sketch);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { as_one_by_one, sorts_do_not_mix };

	return run_suite("joined", NULL, NULL, tests, 2);
}
