#include <assert.h>

#include "store/base/coding.h"
#include "store/format/hll.h"
#include "store/format/joined.h"

/* Three numbers, each a state of the kind that is its place, from 1. No sketch
 * has as many bytes: of its head and whole hashes, or of all registers. */
enum { NUMBER_SIZE = 8, NUMBERS = 3, NUMBERS_SIZE = NUMBERS * NUMBER_SIZE };

static_assert(AGGREGATE_SUM == 1 && (int)AGGREGATE_MAX == NUMBERS,
	      "the kinds of numbers are places");
static_assert(NUMBERS_SIZE % NUMBER_SIZE != HLL_HEAD_SIZE &&
		      NUMBERS_SIZE < HLL_REGISTERS,
	      "a sketch is not taken for numbers");

static int add_number(struct buf *to, struct bytes state)
{
	struct aggregate one = { 0 };
	int kind, err = 0;

	if (to->size != 0 && to->size != NUMBERS_SIZE)
		return 0;
	if (to->size == 0) {
		for (kind = 0; kind < NUMBERS && !err; kind++)
			err = buf_add_bytes(to, state);
		return err < 0 ? err : 1;
	}
	for (kind = 1; kind <= NUMBERS; kind++) {
		/* In place: a number's state does not grow. */
		one.kind = (enum aggregate_kind)kind;
		one.state.data = to->data + (kind - 1) * NUMBER_SIZE;
		one.state.size = one.state.capacity = NUMBER_SIZE;
		aggregate_add(&one, state);
	}
	return 1;
}

int joined_add(struct buf *to, struct bytes state)
{
	int err;

	if (state.size == NUMBER_SIZE)
		return add_number(to, state);
	if (to->size == NUMBERS_SIZE || !hll_is_sketch(state))
		return 0;
	err = hll_merge(to, state);
	return err < 0 ? err : 1;
}

struct bytes joined_state(struct bytes joined, enum aggregate_kind kind)
{
	bool numbers = joined.size == NUMBERS_SIZE;

	assert(kind != AGGREGATE_NONE);
	if (numbers != (kind != AGGREGATE_HLL))
		return BYTES_NONE;
	return numbers ? bytes_of(joined.data + (kind - 1) * NUMBER_SIZE,
				  NUMBER_SIZE)
		       : joined;
}
