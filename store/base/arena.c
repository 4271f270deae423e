#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "store/base/arena.h"

/* A search of a large arena goes to a place far off with every step, and with
 * pages of 4 KiB waits for the page table as well as for the memory. */
#define HUGE_PAGE ((size_t)2 << 20)

int arena_init(struct arena *a, size_t size)
{
	assert(size > 8 && size <= UINT32_MAX);
	if (size < HUGE_PAGE) {
		a->base = malloc(size);
	} else {
		size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;

		a->base = aligned_alloc(HUGE_PAGE, whole);
		/* A wish: without huge pages it is only slower. */
		if (a->base)
			madvise(a->base, whole, MADV_HUGEPAGE);
	}
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
