#ifndef STORE_BASE_BG_H
#define STORE_BASE_BG_H

/*
 * Background work: the one place where threads start. A worker calls a step
 * function until it has nothing to do, then waits to be woken; a ticker, if
 * there is one, calls a tick function again and again. What they work on, and
 * its locks, is the caller's; neither function is ever called by two threads at
 * once, but both may run beside one another.
 */
struct bg;

/*
 * step returns 1 if it did something, 0 if there is nothing to do, or negative
 * if it failed; then it is called again after a pause, which grows from 0.1 to
 * 6.4 seconds and which nothing but bg_stop cuts short. It is called at once,
 * perhaps before *out is set. tick, with interval_ms between the end of one
 * call and the next, is none if it is NULL or interval_ms is 0. 0, or -EAGAIN
 * or -ENOMEM, and no thread is left.
 */
int bg_start(int (*step)(void *context), void (*tick)(void *context),
	     unsigned int interval_ms, void *context, struct bg **out);
/* There is something to do: step is called after this; in a pause, at its end.
 * From any thread, step and tick included, any number of times. */
void bg_wake(struct bg *bg);

/* Waits for the step and the tick under way and ends bg; what there is to do
 * still stays undone. Not from step or tick. NULL is allowed. */
void bg_stop(struct bg *bg);

#endif
