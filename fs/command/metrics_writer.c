#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "fs/command/metrics_writer.h"
#include "store/base/bg.h"
#include "store/base/err.h"

struct metrics_writer {
	struct metrics_file *file; /* the thread's alone */
	struct metrics_source source;
	struct bg *bg;   /* of which step is the thread */
	uint64_t due_us; /* the caller's of metrics_writer_tick */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t change;
	bool uses;  /* the thread is at what source's context is of */
	bool ends;  /* it may not be any more, and removes the file */
	bool ended; /* the file is closed; nothing is used any more */
};

/* Whether the thread may use the context, until end_use. */
static bool begin_use(struct metrics_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->uses = !w->ends;
	pthread_mutex_unlock(&w->lock);
	return w->uses;
}

static void end_use(struct metrics_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->uses = false;
	pthread_cond_broadcast(&w->change);
	pthread_mutex_unlock(&w->lock);
}

/* Removes the file, once; this may hang. */
static void end(struct metrics_writer *w)
{
	if (!w->file)
		return;
	metrics_file_close(w->file);
	w->file = NULL;
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_broadcast(&w->change);
	pthread_mutex_unlock(&w->lock);
}

/* Writes the file; only that may hang without the context. */
static int step(void *context)
{
	struct metrics_writer *w = context;
	const struct metrics_source *s = &w->source;
	bool is_new;
	int err;

	if (!begin_use(w)) {
		end(w);
		return 0;
	}
	metrics_file_print(w->file, s->print, s->context);
	end_use(w);
	err = metrics_file_write(w->file, &is_new);
	if (err < 0 && is_new && begin_use(w)) {
		s->tell(s->context, err);
		end_use(w);
	}
	return 0;
}

static void release(struct metrics_writer *w)
{
	pthread_cond_destroy(&w->change);
	pthread_mutex_destroy(&w->lock);
	metrics_file_close(w->file);
	free(w);
}

int metrics_writer_start(struct metrics_file *m,
			 const struct metrics_source *source,
			 struct metrics_writer **out)
{
	struct metrics_writer *w = calloc(1, sizeof(*w));
	pthread_condattr_t monotonic;
	int err;

	*out = NULL;
	if (!w) {
		metrics_file_close(m);
		return -ENOMEM;
	}
	w->file = m;
	w->source = *source;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->change, &monotonic);
	pthread_condattr_destroy(&monotonic);
	err = bg_start(step, NULL, 0, w, &w->bg);
	if (err)
		release(w);
	else
		*out = w;
	return err;
}

void metrics_writer_tick(struct metrics_writer *w, uint64_t now_us)
{
	if (!w || now_us < w->due_us)
		return;
	/* The first is written without being told. */
	if (w->due_us > 0)
		bg_wake(w->bg);
	w->due_us = now_us + METRICS_FILE_US;
}

int metrics_writer_stop(struct metrics_writer *w)
{
	struct timespec until;
	bool ended;

	if (!w)
		return 0;
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	while (w->uses)
		pthread_cond_wait(&w->change, &w->lock);
	pthread_mutex_unlock(&w->lock);
	bg_wake(w->bg);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += METRICS_END_MS / 1000;
	pthread_mutex_lock(&w->lock);
	while (!w->ended && pthread_cond_timedwait(&w->change, &w->lock,
						   &until) != ETIMEDOUT)
		;
	ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	if (!ended)
		return fail(ETIMEDOUT,
			    "metrics-file=%s: its disk does not answer; the "
			    "file may be left there",
			    w->source.path);
	bg_stop(w->bg);
	release(w);
	return 0;
}
