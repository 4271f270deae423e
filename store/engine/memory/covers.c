#include "store/engine/memory/covers.h"

/*
 * Myers' random-access list: jumps are of lengths such that two of the same
 * length become one, as digits of a number that is counted up.
 */

static const struct cover *at(const struct arena *a, uint32_t place)
{
	static const struct cover none = { .seq = 0 };

	return place ? arena_at(a, place) : &none;
}

uint32_t covers_push(struct arena *a, uint32_t place, uint64_t seq)
{
	uint32_t pushed = arena_alloc(a, sizeof(struct cover));
	const struct cover *first = at(a, place);
	const struct cover *second = at(a, first->jump);
	struct cover *c;

	if (!pushed)
		return 0;
	c = arena_at(a, pushed);
	c->seq = seq;
	c->older = place;
	c->jump = place;
	c->depth = first->depth + 1;
	if (first->jump && first->depth - second->depth ==
				   second->depth - at(a, second->jump)->depth)
		c->jump = second->jump;
	return pushed;
}

uint32_t covers_find(const struct arena *a, uint32_t place,
		     uint64_t visible_seq)
{
	while (place && at(a, place)->seq > visible_seq) {
		const struct cover *c = at(a, place);

		place = at(a, c->jump)->seq > visible_seq ? c->jump : c->older;
	}
	return place;
}

uint64_t covers_seq(const struct arena *a, uint32_t place)
{
	return at(a, place)->seq;
}
