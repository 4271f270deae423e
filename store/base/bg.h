#ifndef STORE_BASE_BG_H
#define STORE_BASE_BG_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/*
 * Background work, and the one place where threads start. A worker calls a step
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

/*
 * One job beside the thread that wants it done, on a thread of its own: for
 * work that is long enough that making a thread does not count. Between start
 * and wait what the job uses is the job's. A task has one owner.
 */
struct task {
	pthread_t thread;
	bool beside; /* it has a thread, which is to be joined */
	int (*run)(void *context);
	void *context;
	int result;
	char *reason; /* err_detail() of the job, owned; NULL: none */
};

/* None was started. */
#define TASK_INIT               \
	{                       \
		.beside = false \
	}

/* Runs it: beside the caller, or here and now if that is not wanted or there is
 * no thread to be had. None may be under way. */
void task_start(struct task *t, bool beside, int (*run)(void *context),
		void *context);

/* Waits for its end: what run returned, once, with its reason in this thread's
 * message; 0 if none was started. */
int task_wait(struct task *t);

/* Blocks what ends a program, SIGTERM, SIGINT and SIGHUP, in this thread and
 * those that it begins, and gives *out these signals, to be waited for; without
 * those that were ignored before, as by nohup. */
void bg_block_ending(sigset_t *out);

#endif
