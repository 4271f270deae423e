#ifndef STORE_BASE_CLOCK_H
#define STORE_BASE_CLOCK_H

#include <stddef.h>
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

/* The time since the machine was started, asleep or not: nobody sets it. */
extern const struct clock clock_steady;

/* Microseconds since 1970. It may go back, as the machine's clock does when it
 * is set: who needs order goes by sequences. */
static inline uint64_t clock_now(const struct clock *c)
{
	return c->now(c->context);
}

/* "2026-01-05T10:11:12.131415Z" of such a time, cut to size bytes with a NUL.
 * Takes no memory, no lock and no file, as gmtime may. */
#define CLOCK_TEXT_SIZE 48
void clock_print(uint64_t us, char *text, size_t size);

/* Nanoseconds that the calling thread has had of a processor. */
uint64_t clock_processor_ns(void);

/* As clock_now, but of the machine's clock it is the time of its last tick, up
 * to some milliseconds ago, which costs a fifth of the time. */
uint64_t clock_coarse(const struct clock *c);

#endif
