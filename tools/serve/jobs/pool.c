#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "store/base/bg.h"
#include "tools/serve/jobs/pool.h"

struct queue {
	struct pool_job *first, *last;
};

struct worker {
	struct pool *pool;
	struct bg *bg;
	struct worker *next_idle; /* protected by the pool's lock */
};

struct pool {
	pthread_mutex_t lock;
	struct queue fresh, again; /* protected by lock */
	bool turn;                 /* of again; protected by lock */
	struct worker *idle;       /* protected by lock */
	unsigned int count;
	struct worker workers[];
};

static struct pool_job *queue_take(struct queue *q)
{
	struct pool_job *job = q->first;

	if (!job)
		return NULL;
	q->first = job->next;
	if (!q->first)
		q->last = NULL;
	return job;
}

/* Needs lock. */
static struct pool_job *take(struct pool *p)
{
	struct pool_job *job;

	p->turn = !p->turn;
	job = queue_take(p->turn ? &p->again : &p->fresh);
	return job ? job : queue_take(p->turn ? &p->fresh : &p->again);
}

/* A worker's step. Who is idle is woken, once, by who takes it off the list; a
 * bg_wake between the end of the lock and the return is not lost, see bg.h. */
static int work(void *context)
{
	struct worker *w = context;
	struct pool *p = w->pool;
	struct pool_job *job;

	pthread_mutex_lock(&p->lock);
	job = take(p);
	if (!job) {
		w->next_idle = p->idle;
		p->idle = w;
	}
	pthread_mutex_unlock(&p->lock);
	if (!job)
		return 0;
	job->run(job);
	return 1;
}

void pool_add(struct pool *p, struct pool_job *job, bool again)
{
	struct queue *q = again ? &p->again : &p->fresh;
	struct worker *w;

	job->next = NULL;
	pthread_mutex_lock(&p->lock);
	if (q->last)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
	w = p->idle;
	/* Under the lock: when the job has run, the pool may be freed. */
	if (w) {
		p->idle = w->next_idle;
		bg_wake(w->bg);
	}
	pthread_mutex_unlock(&p->lock);
}

void pool_free(struct pool *p)
{
	unsigned int i;

	if (!p)
		return;
	for (i = 0; i < p->count; i++)
		bg_stop(p->workers[i].bg);
	assert(!p->fresh.first && !p->again.first);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int pool_new(unsigned int workers, struct pool **out)
{
	struct pool *p = calloc(1, sizeof(*p) + workers * sizeof(*p->workers));
	int err = 0;

	assert(workers > 0);
	*out = NULL;
	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	for (p->count = 0; p->count < workers && err == 0; p->count++) {
		p->workers[p->count].pool = p;
		err = bg_start(work, NULL, 0, &p->workers[p->count],
			       &p->workers[p->count].bg);
	}
	if (err < 0) {
		pool_free(p);
		return err;
	}
	*out = p;
	return 0;
}
