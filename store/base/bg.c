#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/base/bg.h"
#include "store/base/err.h"

/*
 * Two threads of one struct: the worker is driven by the flag work, the ticker
 * by time. They sleep on conditions of their own, so that bg_wake wakes the
 * worker alone. Time is the monotonic one: setting the clock neither delays
 * work nor hurries it.
 */

/* Before work that failed is tried again; doubled each time. */
#define PAUSE_MIN_MS 100
#define PAUSE_MAX_MS 1600

struct bg {
	pthread_t worker, ticker; /* ticker: only if there is a tick */
	pthread_mutex_t lock;     /* never held while step or tick runs */
	pthread_cond_t wake_worker, wake_ticker; /* with lock */
	bool work; /* there may be something to do; protected by lock */
	bool stop; /* never false again; protected by lock */
	/* All that follows is set before the threads start. */
	unsigned int interval_ms;
	int (*step)(void *context);
	void (*tick)(void *context); /* NULL: none */
	void *context;
};

/* The moment so many milliseconds from now. */
static struct timespec moment(unsigned int ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += ms / 1000;
	at.tv_nsec += (long)(ms % 1000) * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

/* Waits until stop or that moment, whatever is signalled meanwhile: after a
 * failure new work must not turn the pause into a busy loop. Needs lock. */
static void wait_until(struct bg *bg, pthread_cond_t *signal,
		       struct timespec at)
{
	while (!bg->stop &&
	       pthread_cond_timedwait(signal, &bg->lock, &at) != ETIMEDOUT)
		;
}

/* work is cleared before step runs, not after: a bg_wake during the step sets
 * it again, and what that is about is not lost. */
static void *worker_main(void *argument)
{
	struct bg *bg = argument;
	unsigned int pause = 0; /* ms, after a failure */
	int did;

	pthread_mutex_lock(&bg->lock);
	while (!bg->stop) {
		if (!bg->work) {
			pthread_cond_wait(&bg->wake_worker, &bg->lock);
			continue;
		}
		bg->work = false;
		pthread_mutex_unlock(&bg->lock);
		did = bg->step(bg->context);
		pthread_mutex_lock(&bg->lock);
		if (did != 0)
			bg->work = true;
		if (did >= 0) {
			pause = 0;
			continue;
		}
		pause = pause ? pause * 2 : PAUSE_MIN_MS;
		if (pause > PAUSE_MAX_MS)
			pause = PAUSE_MAX_MS;
		wait_until(bg, &bg->wake_worker, moment(pause));
	}
	pthread_mutex_unlock(&bg->lock);
	return NULL;
}

/* The interval begins when tick has ended, so a slow one does not pile up. */
static void *ticker_main(void *argument)
{
	struct bg *bg = argument;

	pthread_mutex_lock(&bg->lock);
	while (!bg->stop) {
		wait_until(bg, &bg->wake_ticker, moment(bg->interval_ms));
		if (bg->stop)
			break;
		pthread_mutex_unlock(&bg->lock);
		bg->tick(bg->context);
		pthread_mutex_lock(&bg->lock);
	}
	pthread_mutex_unlock(&bg->lock);
	return NULL;
}

int bg_start(int (*step)(void *context), void (*tick)(void *context),
	     unsigned int interval_ms, void *context, struct bg **out)
{
	struct bg *bg = calloc(1, sizeof(*bg));
	pthread_condattr_t monotonic;
	int err;

	assert(step);
	*out = NULL;
	if (!bg)
		return -ENOMEM;
	pthread_mutex_init(&bg->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&bg->wake_worker, &monotonic);
	pthread_cond_init(&bg->wake_ticker, &monotonic);
	pthread_condattr_destroy(&monotonic);
	bg->step = step;
	bg->tick = interval_ms > 0 ? tick : NULL;
	bg->interval_ms = interval_ms;
	bg->context = context;
	bg->work = true;
	/* Before the threads, whose step may wake it. */
	*out = bg;
	err = pthread_create(&bg->worker, NULL, worker_main, bg);
	if (err)
		goto free_bg;
	if (bg->tick) {
		err = pthread_create(&bg->ticker, NULL, ticker_main, bg);
		if (err) {
			/* The worker runs already, and never looks at tick. */
			bg->tick = NULL;
			bg_stop(bg);
			*out = NULL;
			return -err;
		}
	}
	return 0;

free_bg:
	*out = NULL;
	free(bg);
	return -err;
}

void bg_wake(struct bg *bg)
{
	pthread_mutex_lock(&bg->lock);
	bg->work = true;
	pthread_cond_signal(&bg->wake_worker);
	pthread_mutex_unlock(&bg->lock);
}

void bg_stop(struct bg *bg)
{
	if (!bg)
		return;
	pthread_mutex_lock(&bg->lock);
	bg->stop = true;
	pthread_cond_broadcast(&bg->wake_worker);
	pthread_cond_broadcast(&bg->wake_ticker);
	pthread_mutex_unlock(&bg->lock);
	pthread_join(bg->worker, NULL);
	if (bg->tick)
		pthread_join(bg->ticker, NULL);
	pthread_cond_destroy(&bg->wake_worker);
	pthread_cond_destroy(&bg->wake_ticker);
	pthread_mutex_destroy(&bg->lock);
	free(bg);
}

static void *task_main(void *argument)
{
	struct task *t = argument;

	err_clear();
	t->result = t->run(t->context);
	if (t->result < 0 && *err_detail())
		t->reason = strdup(err_detail());
	return NULL;
}

void task_start(struct task *t, bool beside, int (*run)(void *context),
		void *context)
{
	sigset_t all, before;

	assert(!t->beside && !t->reason);
	*t = (struct task){ .run = run, .context = context };
	if (beside) {
		/* Signals are for the program's own threads, but for what a
		 * thread's own faults raise. */
		sigfillset(&all);
		sigdelset(&all, SIGBUS);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		t->beside = pthread_create(&t->thread, NULL, task_main, t) == 0;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (!t->beside)
		task_main(t);
}

int task_wait(struct task *t)
{
	int result;

	if (t->beside)
		pthread_join(t->thread, NULL);
	result = t->result;
	if (t->reason)
		fail(-result, "%s", t->reason);
	free(t->reason);
	*t = (struct task)TASK_INIT;
	return result;
}

void bg_block_ending(sigset_t *out)
{
	static const int ending[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction before;
	size_t i;

	sigemptyset(out);
	for (i = 0; i < sizeof(ending) / sizeof(*ending); i++) {
		sigaction(ending[i], NULL, &before);
		if (before.sa_handler != SIG_IGN)
			sigaddset(out, ending[i]);
	}
	pthread_sigmask(SIG_BLOCK, out, NULL);
}
