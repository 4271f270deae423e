#ifndef STORE_BASE_BG_H
#define STORE_BASE_BG_H

/*
 * The store's only threads: they call a step function until it has nothing to
 * do, then wait to be woken, and call a tick function at a steady interval.
 */
struct bg;

/* step: 1 did something, 0 idle, negative: failed, and is called again after a
 * pause, which grows from 0.1 to 6.4 seconds. tick may be NULL. */
int bg_start(int (*step)(void *context), void (*tick)(void *context),
	     unsigned int interval_ms, void *context, struct bg **out);
/* From any thread, any number of times. */
void bg_wake(struct bg *bg);
/* Waits for the step under way. NULL is allowed. */
void bg_stop(struct bg *bg);

#endif
