#include "store/base/arena.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int arena_init(struct arena *a, size_t size)
{
	assert(size > 8 && size <= UINT32_MAX);
	a->base = malloc(size);
	if (!a->base)
		return -ENOMEM;
	a->used = 8;
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
	size_t start = (a->used + 7) & ~(size_t)7;

	assert(n > 0);
	if (start > a->size || n > a->size - start)
		return 0;
	a->used = start + n;
	return (uint32_t)start;
}
