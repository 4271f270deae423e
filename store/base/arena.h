#ifndef STORE_BASE_ARENA_H
#define STORE_BASE_ARENA_H

#include "store/base/bytes.h"

/*
 * Arena: many small allocations, one release. The size is fixed when it is
 * made, so a caller can know that there is room before it writes to the log.
 * Places are 32-bit offsets from base; 0 is never handed out and means none.
 * One thread allocates; any thread may read what was allocated, once it has
 * been told of it with release and acquire.
 */
struct arena {
	uint8_t *base;
	size_t used;
	size_t size;
};

/* size is at most 4 GiB; memory is touched only as it is used. 0 or -ENOMEM. */
int arena_init(struct arena *a, size_t size);
void arena_release(struct arena *a);

/* 8-byte aligned, not zeroed; 0 when full. n must not be 0. */
uint32_t arena_alloc(struct arena *a, size_t n);

static inline void *arena_at(const struct arena *a, uint32_t place)
{
	return a->base + place;
}

#endif
