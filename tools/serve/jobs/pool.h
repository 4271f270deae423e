#ifndef TOOLS_SERVE_JOBS_POOL_H
#define TOOLS_SERVE_JOBS_POOL_H

#include <stdbool.h>

/*
 * Workers for what takes longer than a connection can wait. Jobs are taken in
 * the order in which they were added, but the new and those that had a turn
 * already in turns: many long ones do not hold up a short one.
 */
struct pool;

struct pool_job {
	void (*run)(struct pool_job *job);
	struct pool_job *next; /* the pool's */
};

/* With so many workers, at least 1. 0, -ENOMEM or -EAGAIN. */
int pool_new(unsigned int workers, struct pool **out);

/* No job may be left. NULL is allowed. */
void pool_free(struct pool *p);

/* Has a worker run the job, once. again: it had a turn. From any thread. The
 * job is the caller's again when run is called. */
void pool_add(struct pool *p, struct pool_job *job, bool again);

#endif
