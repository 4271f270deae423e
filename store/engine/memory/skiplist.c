#include <errno.h>
#include <stddef.h>

#include "store/engine/memory/skiplist.h"

static_assert(offsetof(struct skiplist_node, next) % sizeof(uint32_t) == 0,
	      "the offsets are aligned");

static uint32_t next_at(const struct arena *a, uint32_t place, unsigned int h)
{
	return atomic_load_explicit(&skiplist_node(a, place)->next[h],
				    memory_order_acquire);
}

static uint32_t node_new(struct arena *a, unsigned int height, size_t key_size,
			 size_t more)
{
	uint32_t place = arena_alloc(a, sizeof(struct skiplist_node) +
						height * sizeof(uint32_t) +
						key_size + more);
	struct skiplist_node *n;
	unsigned int h;

	assert(height >= 1 && height <= SKIPLIST_HEIGHT_MAX);
	if (!place)
		return 0;
	n = skiplist_node(a, place);
	n->key_size = (uint32_t)key_size;
	n->height = height;
	atomic_init(&n->extra, 0);
	for (h = 0; h < height; h++)
		atomic_init(&n->next[h], 0);
	return place;
}

/* Xorshift (Marsaglia); its low bits decide. All lists have the same seed:
 * nobody gains by knowing the heights. */
static unsigned int random_height(struct skiplist *s)
{
	unsigned int height = 1;
	uint32_t bits;

	s->random ^= s->random << 13;
	s->random ^= s->random >> 17;
	s->random ^= s->random << 5;
	for (bits = s->random; height < SKIPLIST_HEIGHT_MAX && bits % 4 == 0;
	     bits /= 4)
		height++;
	return height;
}

uint32_t skiplist_new(struct skiplist *s, size_t key_size, size_t more)
{
	return node_new(s->arena, random_height(s), key_size, more);
}

/*
 * The last node at height h that is before key, from place on, which is. Below,
 * the search goes on from there or from the one after it: that one's memory is
 * asked for while the keys are compared.
 */
static uint32_t walk(const struct arena *a, uint32_t place, unsigned int h,
		     struct bytes key)
{
	uint32_t next = next_at(a, place, h);

	while (next) {
		if (h > 0)
			__builtin_prefetch(
				skiplist_node(a, next_at(a, place, h - 1)));
		if (!skiplist_is_before(a, next, key))
			break;
		place = next;
		next = next_at(a, place, h);
	}
	return place;
}

uint32_t skiplist_before(const struct skiplist *s, struct bytes key)
{
	uint32_t place = s->head;
	unsigned int h = SKIPLIST_HEIGHT_MAX;

	assert(place);
	while (h-- > 0)
		place = walk(s->arena, place, h, key);
	return place;
}

/* The old places enclose one another, so from the first height at which key
 * falls between one of them and its next, all above are right already:
 * ascending keys cost a few comparisons. */
void skiplist_find(struct skiplist *s, struct bytes key)
{
	const struct arena *a = s->arena;
	uint32_t place = s->head;
	unsigned int h;

	for (h = 0; h < SKIPLIST_HEIGHT_MAX; h++) {
		uint32_t old = s->before[h];

		if ((old == s->head || skiplist_is_before(a, old, key)) &&
		    !skiplist_is_before(a, next_at(a, old, h), key)) {
			place = old;
			break;
		}
	}
	while (h-- > 0) {
		place = walk(a, place, h, key);
		s->before[h] = place;
	}
}

void skiplist_link(struct skiplist *s, uint32_t place)
{
	struct skiplist_node *n = skiplist_node(s->arena, place);
	unsigned int h;

	/* From the bottom: whoever meets the node above finds it below, too. */
	for (h = 0; h < n->height; h++) {
		_Atomic uint32_t *next =
			&skiplist_node(s->arena, s->before[h])->next[h];

		atomic_init(&n->next[h],
			    atomic_load_explicit(next, memory_order_relaxed));
		atomic_store_explicit(next, place, memory_order_release);
		s->before[h] = place;
	}
}

int skiplist_init(struct skiplist *s, struct arena *a)
{
	unsigned int h;

	s->arena = a;
	s->random = 2463534242; /* any but 0 */
	s->head = node_new(a, SKIPLIST_HEIGHT_MAX, 0, 0);
	if (!s->head)
		return -ENOMEM;
	for (h = 0; h < SKIPLIST_HEIGHT_MAX; h++)
		s->before[h] = s->head;
	return 0;
}
