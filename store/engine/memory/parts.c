#include <assert.h>

#include "store/engine/memory/parts.h"
#include "store/format/joined.h"

/* What a step to the next merge costs, in bytes that are merged meanwhile; and
 * what lies between two that keep what they come to, beside their size: some 14
 * numbers, or 230 numbers of a large sketch. */
#define STEP_COST 64
#define LEFT_MIN 1024

static struct part *part_at(const struct arena *a, uint32_t place)
{
	return arena_at(a, place);
}

static struct bytes value_of(const struct part *p)
{
	return bytes_of((const uint8_t *)(p + 1), p->size);
}

/* What is kept at the part; empty if nothing is. */
static struct bytes kept(const struct arena *a, const struct part *p)
{
	const struct part_joined *j;

	if (!p->joined)
		return BYTES_NONE;
	j = arena_at(a, p->joined);
	return bytes_of(j->bytes, j->size);
}

/* NULL: p is the oldest of its chain. */
static const struct part *below(const struct arena *a, const struct part *p)
{
	return p->older ? part_at(a, p->older) : NULL;
}

/* What is kept at the first part from p down that keeps something; empty if
 * none does. */
static struct bytes kept_below(const struct arena *a, const struct part *p)
{
	while (p && !p->joined)
		p = below(a, p);
	return p ? kept(a, p) : BYTES_NONE;
}

/* Puts into out what the chain comes to from p down: 1, 0 if not all of it goes
 * together, or -ENOMEM. */
static int join(const struct arena *a, const struct part *p, struct buf *out)
{
	int err = buf_set(out, kept_below(a, p));

	if (err < 0)
		return err;
	for (err = 1; err > 0 && p && !p->joined; p = below(a, p))
		err = joined_add(out, value_of(p));
	return err;
}

/* What is kept goes first: then a sketch is copied, and numbers go into it one
 * by one, which is less work than the other way around. */
int part_merge(const struct arena *a, const struct part *p,
	       struct aggregate *to)
{
	struct bytes state = joined_state(kept_below(a, p), to->kind);
	int err = aggregate_add(to, state);

	for (; !err && p && !p->joined; p = below(a, p))
		err = aggregate_add(to, value_of(p));
	return err;
}

/* Whether there is room to keep a state of so many bytes: aligning may waste as
 * much in front of it and behind. */
static bool has_room(size_t room, size_t size)
{
	return sizeof(struct part_joined) + size + 16 <= room;
}

/* The place of a copy of what is in state; 0 without room for it. */
static uint32_t keep(struct arena *a, struct bytes state, size_t room)
{
	struct part_joined *j;
	uint32_t place = 0;

	if (has_room(room, state.size))
		place = arena_alloc(a, sizeof(struct part_joined) + state.size);
	if (!place)
		return 0;
	j = arena_at(a, place);
	j->size = (uint32_t)state.size;
	memcpy(j->bytes, state.data, state.size);
	return place;
}

void part_link(struct arena *a, uint32_t place, uint32_t older, size_t room,
	       struct buf *scratch)
{
	struct part *p = part_at(a, place);
	int64_t left = LEFT_MIN;

	p->older = older;
	p->joined = 0;
	if (older) {
		p->first = part_at(a, older)->first;
		left = part_at(a, older)->left;
	}
	left -= (int64_t)p->size + STEP_COST;
	if (left <= 0) {
		left = LEFT_MIN;
		/* What cannot be kept would be walked again and again. */
		if (has_room(room, 0) && join(a, p, scratch) > 0) {
			p->joined = keep(a, buf_bytes(scratch), room);
			left += (int64_t)scratch->size;
		}
	}
	assert(left > 0 && left <= INT32_MAX);
	p->left = (int32_t)left;
}
