#include "store/engine/bg.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct bg {
	pthread_t worker, ticker;
	pthread_mutex_t lock;
	pthread_cond_t wake_worker, wake_ticker;
	bool work, stop; /* protected by lock */
	unsigned int interval_ms;
	int (*step)(void *context);
	void (*tick)(void *context);
	void *context;
};

static void *worker_main(void *argument)
{
	struct bg *bg = argument;
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
		if (did > 0)
			bg->work = true;
	}
	pthread_mutex_unlock(&bg->lock);
	return NULL;
}

static void *ticker_main(void *argument)
{
	struct bg *bg = argument;
	struct timespec until;

	pthread_mutex_lock(&bg->lock);
	while (!bg->stop) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += bg->interval_ms / 1000;
		until.tv_nsec += (long)(bg->interval_ms % 1000) * 1000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		if (pthread_cond_timedwait(&bg->wake_ticker, &bg->lock,
					   &until) != ETIMEDOUT)
			continue;
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

	*out = NULL;
	if (!bg)
		return -ENOMEM;
	pthread_mutex_init(&bg->lock, NULL);
	pthread_cond_init(&bg->wake_worker, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&bg->wake_ticker, &monotonic);
	pthread_condattr_destroy(&monotonic);
	bg->step = step;
	bg->tick = interval_ms > 0 ? tick : NULL;
	bg->interval_ms = interval_ms;
	bg->context = context;
	bg->work = true;
	err = pthread_create(&bg->worker, NULL, worker_main, bg);
	if (err)
		goto free_bg;
	if (bg->tick) {
		err = pthread_create(&bg->ticker, NULL, ticker_main, bg);
		if (err) {
			bg->tick = NULL;
			bg_stop(bg);
			return -err;
		}
	}
	*out = bg;
	return 0;

free_bg:
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
