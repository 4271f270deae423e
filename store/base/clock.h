#ifndef STORE_BASE_CLOCK_H
#define STORE_BASE_CLOCK_H

#include <stdint.h>

/*
 * Where the store takes the time from, so that tests can set it. now returns
 * microseconds since 1970 and may be called by any thread.
 */
struct clock {
	uint64_t (*now)(void *context);
	void *context;
};

/* The machine's real time. */
extern const struct clock clock_real;

/* Microseconds since 1970. It may go back, as the machine's clock does when it
 * is set: who needs order goes by sequences. */
static inline uint64_t clock_now(const struct clock *c)
{
	return c->now(c->context);
}

#endif
