#ifndef STORE_BASE_THREADS_TRIM_H
#define STORE_BASE_THREADS_TRIM_H

#include <stdbool.h>

/*
 * What is left of the heap. The allocator keeps what is freed, for each thread
 * its own: what 100,000 small pieces took would stay for ever.
 */

/* For the process: pieces of some MiB are mapped each by itself, and gone when
 * they are freed; of a thread's heap twice as much may stay behind its last
 * piece, where nobody else looks. */
void trim_init(void);

/* Asks each second whether much was freed; a second after it was, the heap's
 * pages that hold nothing go back to the system. is_due is called by a thread
 * of its own, until trim_stop. Without memory or a thread for that, NULL: they
 * stay. */
struct trim;
struct trim *trim_start(bool (*is_due)(void *context), void *context);
/* NULL is allowed. */
void trim_stop(struct trim *t);

#endif
