#include <assert.h>
#include <errno.h>

#include "store/base/arena.h"
#include "store/base/huge.h"

int arena_init(struct arena *a, size_t size)
{
	assert(size > 8 && size <= UINT32_MAX);
	a->base = huge_alloc(size);
	if (!a->base)
		return -ENOMEM;
	a->used = 8; /* so that no allocation is at place 0 */
	a->size = size;
	return 0;
}

void arena_release(struct arena *a)
{
	free(a->base);
	*a = (struct arena){ NULL, 0, 0 };
}

uint32_t arena_alloc(struct arena *a, size_t n)
{
	size_t start = (arena_used(a) + 7) & ~(size_t)7;

	assert(n > 0);
	assert(arena_used(a) >= 8 && arena_used(a) <= a->size);
	if (start > a->size || n > a->size - start)
		return 0;
	atomic_store_explicit(&a->used, start + n, memory_order_relaxed);
	return (uint32_t)start;
}
