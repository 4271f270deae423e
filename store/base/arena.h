#ifndef STORE_BASE_ARENA_H
#define STORE_BASE_ARENA_H

#include <stdatomic.h>

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
	_Atomic size_t
		used; /* bytes from base, what alignment wastes included */
	size_t size;
};

/* size is more than 8 and less than 4 GiB; memory is touched only as it is
 * used. 0 or -ENOMEM. */
int arena_init(struct arena *a, size_t size);

/* Frees all of it at once; a is zeroed, which may be released again. */
void arena_release(struct arena *a);

/* The place of n bytes, 8-byte aligned, not zeroed; 0 when full. n must not be
 * 0. */
uint32_t arena_alloc(struct arena *a, size_t n);

/* The memory at a place that arena_alloc gave. */
static inline void *arena_at(const struct arena *a, uint32_t place)
{
	return a->base + place;
}

/* Bytes that are taken; any thread may ask. */
static inline size_t arena_used(const struct arena *a)
{
	return atomic_load_explicit(&a->used, memory_order_relaxed);
}

#endif
