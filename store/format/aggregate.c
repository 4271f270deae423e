#include <assert.h>

#include "store/aggregate.h"
#include "store/base/coding.h"
#include "store/format/hll.h"

/*
 * States of sum, min and max are numbers of a fixed size, merged in place;
 * those of hll are sketches, which hll.c merges. No state is empty, so that an
 * empty buffer can stand for nothing added.
 */
#define NUMBER_SIZE 8

void aggregate_start(struct aggregate *a, enum aggregate_kind kind)
{
	a->kind = kind;
	buf_reset(&a->state);
}

void aggregate_release(struct aggregate *a)
{
	buf_release(&a->state);
}

/* A sum in unsigned numbers, where overflow wraps around and is defined. */
static uint64_t combine(enum aggregate_kind kind, uint64_t a, uint64_t b)
{
	if (kind == AGGREGATE_SUM)
		return a + b;
	return ((int64_t)a < (int64_t)b) == (kind == AGGREGATE_MIN) ? a : b;
}

int aggregate_add(struct aggregate *a, struct bytes state)
{
	uint8_t *so_far = a->state.data;

	assert(a->kind != AGGREGATE_NONE);
	if (!aggregate_is_state(a->kind, state))
		return 0;
	if (a->kind == AGGREGATE_HLL)
		return hll_merge(&a->state, state);
	if (a->state.size == 0)
		return buf_add_bytes(&a->state, state);
	assert(a->state.size == NUMBER_SIZE);
	put_u64be(so_far,
		  combine(a->kind, get_u64be(so_far), get_u64be(state.data)));
	return 0;
}

/* Of numbers only the size can tell: any eight bytes are one. */
bool aggregate_is_state(enum aggregate_kind kind, struct bytes state)
{
	return kind == AGGREGATE_HLL ? hll_is_sketch(state)
				     : state.size == NUMBER_SIZE;
}

int aggregate_of(enum aggregate_kind kind, int64_t number, struct buf *out)
{
	uint8_t bytes[NUMBER_SIZE];

	if (kind == AGGREGATE_HLL)
		return hll_of(number, out);
	put_u64be(bytes, (uint64_t)number);
	return buf_add(out, bytes, sizeof(bytes));
}

int64_t aggregate_number(enum aggregate_kind kind, struct bytes state)
{
	if (!aggregate_is_state(kind, state))
		return 0;
	return (int64_t)(kind == AGGREGATE_HLL ? hll_estimate(state)
					       : get_u64be(state.data));
}
