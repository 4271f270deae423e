#ifndef TOOLS_SERVE_TRIM_H
#define TOOLS_SERVE_TRIM_H

#include <stdatomic.h>

/*
 * What large calls have left of the heap. The allocator keeps what is freed,
 * for each thread its own; some 100,000 small pieces of a request that was
 * taken apart would stay for ever.
 */

/* A second or two after *given was set the heap's pages that hold nothing go
 * back to the system. given stays the caller's, until trim_stop. Without memory
 * or a thread for that, NULL: they stay. */
struct trim;
struct trim *trim_start(atomic_bool *given);
/* NULL is allowed. */
void trim_stop(struct trim *t);

#endif
