#ifndef STORE_HEAT_HEAT_KEY_H
#define STORE_HEAT_HEAT_KEY_H

#include "store/heat/heat_record.h"

/* A row key without the prefix that it shares with others, cut to the size of a
 * fence. */
struct heat_key {
	uint8_t size;
	uint8_t data[HEAT_FENCE_SIZE];
};

static inline struct bytes heat_key_bytes(const struct heat_key *k)
{
	return bytes_of(k->data, k->size);
}

/* Cuts what is longer. */
static inline void heat_key_set(struct heat_key *k, struct bytes b)
{
	k->size = b.size < HEAT_FENCE_SIZE ? (uint8_t)b.size : HEAT_FENCE_SIZE;
	if (k->size > 0)
		memcpy(k->data, b.data, k->size);
}

#endif
