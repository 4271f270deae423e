#ifndef FS_CELLS_LOOP_H
#define FS_CELLS_LOOP_H

#include <fuse_lowlevel.h>
#include <signal.h>

#include "fs/state/metrics.h"

/*
 * Serving requests. One thread at a time, the leader, receives a request,
 * answers it and receives the next: no other thread need wake, and what it
 * uses stays in its CPU's cache. Another stands by. A handler that may take
 * long hands the lead over first; from one that takes long unexpectedly it is
 * taken, so that no request waits for another's disk or scan. If nobody stands
 * by then, one more thread is started, up to LOOP_THREADS.
 */
#define LOOP_THREADS 128

/* Serves until the filesystem is unmounted or one of the ending signals, which
 * the caller has blocked, arrives. Returns when all requests are answered: 0 or
 * an error. Their times are counted in metrics; tick is called about once a
 * second. */
int loop_serve(struct fuse_session *session, const sigset_t *ending,
	       struct metrics *metrics, void (*tick)(void *context),
	       void *context);

/* The request that this thread answers from now on. */
void loop_begin(fuse_req_t req);
/* Whether who asked for it has given up: a signal came. For scan_range.stop. */
bool loop_is_interrupted(void);

/* Lets another thread receive requests from now on, if this one was to. */
void loop_hand_over(void);

#endif
