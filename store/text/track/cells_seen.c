#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "store/base/huge.h"
#include "store/text/track/cells_seen.h"

#define SLOTS_MIN 1024

void cells_seen_init(struct cells_seen *c, size_t size_max)
{
	*c = (struct cells_seen){ .capacity_max = size_max / sizeof(uint64_t) };
	assert(c->capacity_max >= SLOTS_MIN);
}

void cells_seen_release(struct cells_seen *c)
{
	free(c->slots);
	c->slots = NULL;
	c->capacity = c->count = 0;
}

/* Each part is mixed with those before it, so that where one ends matters. */
uint64_t cells_seen_hash(struct bytes row, struct bytes family,
			 struct bytes qualifier, uint64_t timestamp_us)
{
	uint64_t hash = XXH3_64bits_withSeed(row.data, row.size, timestamp_us);

	hash = XXH3_64bits_withSeed(family.data, family.size, hash);
	hash = XXH3_64bits_withSeed(qualifier.data, qualifier.size, hash);
	return hash ? hash : 1;
}

/* The slot that has the hash, or the free one where it would be. */
static uint64_t *find(const struct cells_seen *c, uint64_t hash)
{
	size_t i = hash & (c->capacity - 1);

	assert(c->count < c->capacity);
	while (c->slots[i] && c->slots[i] != hash)
		i = (i + 1) & (c->capacity - 1);
	return &c->slots[i];
}

void cells_seen_fetch(const struct cells_seen *c, uint64_t hash)
{
	if (c->capacity > 0)
		__builtin_prefetch(&c->slots[hash & (c->capacity - 1)]);
}

bool cells_seen_has(const struct cells_seen *c, uint64_t hash)
{
	return c->capacity > 0 && *find(c, hash);
}

static int grow(struct cells_seen *c)
{
	struct cells_seen larger = *c;
	size_t i, size;

	larger.capacity = c->capacity ? c->capacity * 2 : SLOTS_MIN;
	size = larger.capacity * sizeof(*larger.slots);
	larger.slots = huge_alloc(size);
	if (!larger.slots)
		return -ENOMEM;
	memset(larger.slots, 0, size);
	for (i = 0; i < c->capacity; i++)
		if (c->slots[i])
			*find(&larger, c->slots[i]) = c->slots[i];
	free(c->slots);
	*c = larger;
	return 0;
}

int cells_seen_add(struct cells_seen *c, uint64_t hash)
{
	uint64_t *slot;
	int err = 0;

	assert(hash != 0);
	if (c->count * 4 >= c->capacity * 3) {
		if (c->capacity * 2 > c->capacity_max) {
			c->full = true;
			return 0;
		}
		err = grow(c);
	}
	if (err < 0)
		return err;
	slot = find(c, hash);
	c->count += *slot == 0;
	*slot = hash;
	return 0;
}
