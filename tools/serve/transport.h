#ifndef TOOLS_SERVE_TRANSPORT_H
#define TOOLS_SERVE_TRANSPORT_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "store/base/memory.h"
#include "tools/serve/jobs/inbox.h"
#include "tools/serve/jobs/pool.h"
#include "tools/serve/server.h"

/* What one call may have, to go beyond the memory that there is (call_state.h):
 * whether one has it, and how much by it; and when another last asked in vain
 * for memory, or 0 if a call was ended since. */
struct memory_token {
	atomic_bool taken;
	_Atomic uint64_t beyond;
	_Atomic uint64_t wanted_ms;
	atomic_bool given; /* a call gave back much, for the heap's trim */
};

/*
 * What connections and calls of one thread share. Nothing of it changes while
 * there is one of them, but what has a lock of its own.
 */
struct transport {
	const struct server_options *options;
	const struct route *routes;
	void *context; /* of the handlers */
	struct pool *pool;
	struct inbox inbox;         /* calls that this thread has to look at */
	struct memory_token *token; /* of all threads */
	unsigned int calls;         /* not freed; the thread's alone */
};

/* Microseconds of a clock that nobody sets, and milliseconds of the same. */
static inline uint64_t transport_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static inline uint64_t transport_ms(void)
{
	return transport_us() / 1000;
}

#endif
