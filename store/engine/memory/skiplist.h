#ifndef STORE_ENGINE_MEMORY_SKIPLIST_H
#define STORE_ENGINE_MEMORY_SKIPLIST_H

#include <assert.h>

#include "store/base/arena.h"

/*
 * A skiplist on an arena: keys in ascending order, to which is only added.
 * Places are those of nodes in the arena. One thread adds at a time; any number
 * read without locks, because a node is linked with release when it is whole.
 * (It is LevelDB's, the hint for ascending keys RocksDB's.)
 *
 *   node | next[height] | key | what the user keeps with it
 *
 * Height h has a quarter of the nodes of height h - 1. A search begins at the
 * top of the head and goes down where the next node is not before the key. Each
 * word that a reader follows is stored with release when what it leads to is
 * whole, and loaded with acquire.
 */
#define SKIPLIST_HEIGHT_MAX 12

struct skiplist {
	struct arena *arena; /* borrowed */
	uint32_t head;       /* a node without key, before all others */
	/* The nodes before the last one added, by height: where the writer
	 * starts to look for the next place. Readers do not look at it. */
	uint32_t before[SKIPLIST_HEIGHT_MAX];
	uint32_t random; /* state of the heights, not 0 */
};

struct skiplist_node {
	uint32_t key_size;
	uint32_t height;         /* 1 to SKIPLIST_HEIGHT_MAX */
	_Atomic uint32_t extra;  /* the user's; 0 at first */
	_Atomic uint32_t next[]; /* by height; 0: the end */
};

/* Of the tallest node, without its key. */
#define SKIPLIST_NODE_MAX \
	(sizeof(struct skiplist_node) + SKIPLIST_HEIGHT_MAX * sizeof(uint32_t))

static inline struct skiplist_node *skiplist_node(const struct arena *a,
						  uint32_t place)
{
	assert(place < a->size);
	return arena_at(a, place);
}

static inline uint8_t *skiplist_key_data(const struct arena *a, uint32_t place)
{
	struct skiplist_node *n = skiplist_node(a, place);

	return (uint8_t *)&n->next[n->height];
}

static inline struct bytes skiplist_key(const struct arena *a, uint32_t place)
{
	return bytes_of(skiplist_key_data(a, place),
			skiplist_node(a, place)->key_size);
}

/* The node after the one at place; 0 at the end. */
static inline uint32_t skiplist_next(const struct arena *a, uint32_t place)
{
	return atomic_load_explicit(&skiplist_node(a, place)->next[0],
				    memory_order_acquire);
}

/* Whether the node at place comes before key; place 0 is the end. */
static inline bool skiplist_is_before(const struct arena *a, uint32_t place,
				      struct bytes key)
{
	return place && bytes_compare(skiplist_key(a, place), key) < 0;
}

/* 0 or -ENOMEM, if the arena is full. */
int skiplist_init(struct skiplist *s, struct arena *a);

/* The last node before key, which may be the head. */
uint32_t skiplist_before(const struct skiplist *s, struct bytes key);

/* The writer's: sets s->before to the last nodes before key. */
void skiplist_find(struct skiplist *s, struct bytes key);

/* A node of random height that is not linked yet, with so many bytes for the
 * key and more behind it, both of which the caller writes; 0 if the arena is
 * full. */
uint32_t skiplist_new(struct skiplist *s, size_t key_size, size_t more);

/* Links the node after s->before, which skiplist_find has set for its key, and
 * makes it the hint for what follows. */
void skiplist_link(struct skiplist *s, uint32_t place);

#endif
