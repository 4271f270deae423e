#ifndef STORE_BASE_THREADS_REFERENCE_H
#define STORE_BASE_THREADS_REFERENCE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * Counts of references to what threads share. Who makes the thing has the
 * first; who has one may take more. From any thread.
 */
static inline void reference_init(atomic_uint *references)
{
	atomic_init(references, 1);
}

/* Orders nothing: who has a reference to take another by sees the thing. */
static inline void reference_take(atomic_uint *references)
{
	unsigned int before =
		atomic_fetch_add_explicit(references, 1, memory_order_relaxed);

	assert(before > 0);
	(void)before;
}

/* Whether that was the last, since whoever could take another would have to
 * have one: then the caller frees the thing, and sees all that others did to it
 * while they had theirs. */
static inline bool reference_drop(atomic_uint *references)
{
	unsigned int before =
		atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel);

	assert(before > 0);
	return before == 1;
}

#endif
