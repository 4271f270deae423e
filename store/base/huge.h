#ifndef STORE_BASE_HUGE_H
#define STORE_BASE_HUGE_H

#include <stdlib.h>
#include <sys/mman.h>

/*
 * Memory that is searched: each step goes to a place far off, and with pages of
 * 4 KiB waits for the page table as well as for the memory.
 */
#define HUGE_PAGE ((size_t)2 << 20)

/* size bytes, not cleared, to be freed; NULL without memory. From a huge page
 * on such pages are wished for: without them it is only slower. */
static inline void *huge_alloc(size_t size)
{
	size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *memory;

	if (size < HUGE_PAGE || whole < size)
		return malloc(size);
	memory = aligned_alloc(HUGE_PAGE, whole);
	if (memory)
		madvise(memory, whole, MADV_HUGEPAGE);
	return memory;
}

#endif
