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
 * by then, one more thread is started, up to LOOP_THREADS; threads are not
 * ended before the loop is.
 *
 * Requests that take long keep their threads, and whoever sends many at once
 * must leave some to others. So a user may have as many threads busy with such
 * requests as are left then, and a quarter less unless the request is one of
 * those that ls and stat send: one user alone 64 and 55 of 128, and each of two
 * 43 and 39. A request beyond that is parked, as it was received: it waits
 * without a thread for one of the same user to end. Only reads of control
 * files, which may have no end, are refused, and before that, so that they do
 * not keep the same user's other requests waiting.
 *
 * A thread belongs to one loop; what a handler calls here is about the request
 * that its own thread answers.
 */
#define LOOP_THREADS 128
/* So many reads of control files at once, of all users and of one. */
#define LOOP_READS_MAX 64
#define LOOP_USER_READS_MAX 40
/* What is parked may take so much memory; what comes then gets a thread, while
 * there are any. */
#define LOOP_PARKED_MAX ((size_t)64 << 20)

/* Serves until the filesystem is unmounted or one of the ending signals, which
 * the caller has blocked, arrives. Returns when all requests are answered: 0 or
 * an error. Their times are counted in metrics; tick is called about once a
 * second, by the caller's thread, which answers no requests. SIGUSR1 is the
 * loop's own from now on, and SIGPIPE is ignored. */
int loop_serve(struct fuse_session *session, const sigset_t *ending,
	       struct requests *metrics, void (*tick)(void *context),
	       void *context);

/* The request that this thread answers from now on, until the next. */
void loop_begin(fuse_req_t req);

/* Who asked for it, before it is answered; in a thread that never began one,
 * who runs this process. */
uid_t loop_uid(void);

/* Whether who asked for it has given up, because a signal came, or the loop has
 * ended. For scan_range.stop. Not after the request was answered, with which it
 * is gone; false in a thread that never began one. */
bool loop_is_interrupted(void);

/* Around a read of a control file: 0, or -EBUSY if too many are under way. In a
 * thread of no loop none are counted. */
int loop_begin_read(void);
void loop_end_read(void);

/* Lets another thread receive requests from now on, if this one was to. Call it
 * before what may wait for a disk, a lock that is held for long, or a scan
 * without a bound; any number of times, in any thread. */
void loop_hand_over(void);

#endif
