#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "fs/loop.h"
#include "store/store.h"

/* How often to look whether the leader is stuck: while requests come, and while
 * there are none. */
#define WATCH_BUSY_NS 10000000
#define WATCH_IDLE_S 1
#define TICK_NS UINT64_C(1000000000)

struct loop {
	struct fuse_session *session;
	struct metrics *metrics;
	void (*tick)(void *context);
	void *context;
	pthread_t main; /* who is told of the end, by SIGUSR1 */
	pthread_mutex_t lock;
	pthread_cond_t change; /* of what follows, which lock guards */
	uint64_t leader;       /* which term it is; 0: nobody leads */
	uint64_t terms;
	pthread_t thread; /* the leader's */
	bool busy;        /* the leader is answering */
	uint64_t turns;   /* requests begun */
	bool ended;
	int error;
};

static _Thread_local struct loop *my_loop;
static _Thread_local uint64_t my_term;

void loop_hand_over(void)
{
	struct loop *l = my_loop;

	if (!l || my_term == 0)
		return;
	pthread_mutex_lock(&l->lock);
	if (l->leader == my_term) {
		l->leader = 0;
		pthread_cond_signal(&l->change);
	}
	pthread_mutex_unlock(&l->lock);
	my_term = 0;
}

static void end(struct loop *l, int error)
{
	if (!l->ended)
		pthread_kill(l->main, SIGUSR1);
	l->ended = true;
	if (error && !l->error)
		l->error = error;
	pthread_cond_broadcast(&l->change);
}

static void answer(struct loop *l, struct fuse_buf *buf)
{
	const struct fuse_in_header *request = buf->mem;
	uint64_t start = metrics_now_ns();
	unsigned int kind = request->opcode;

	fuse_session_process_buf(l->session, buf);
	metrics_count(l->metrics, kind, start);
}

/* Receives and answers as long as this thread leads. l->lock is held, but not
 * meanwhile. */
static void lead(struct loop *l, struct fuse_buf *buf)
{
	uint64_t term = ++l->terms;
	int n;

	l->leader = my_term = term;
	l->thread = pthread_self();
	while (!l->ended && l->leader == term) {
		l->busy = false;
		pthread_mutex_unlock(&l->lock);
		n = fuse_session_receive_buf(l->session, buf);
		pthread_mutex_lock(&l->lock);
		if (n == 0 || fuse_session_exited(l->session)) {
			end(l, 0);
		} else if (n > 0) {
			l->busy = true;
			l->turns++;
			pthread_mutex_unlock(&l->lock);
			answer(l, buf);
			pthread_mutex_lock(&l->lock);
		} else if (n != -EINTR && n != -EAGAIN) {
			end(l, n);
		}
	}
}

static int work(void *context)
{
	struct loop *l = context;
	struct fuse_buf buf = { .mem = NULL };
	sigset_t kick;

	sigemptyset(&kick);
	sigaddset(&kick, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &kick, NULL);
	my_loop = l;
	pthread_mutex_lock(&l->lock);
	while (!l->ended) {
		if (l->leader)
			pthread_cond_wait(&l->change, &l->lock);
		else
			lead(l, &buf);
	}
	pthread_mutex_unlock(&l->lock);
	my_loop = NULL;
	free(buf.mem);
	return -1;
}

/* Waits for the end or for an ending signal, and takes the lead from who has
 * answered one request all the time between two looks. */
static void watch(struct loop *l, const sigset_t *signals)
{
	const struct timespec soon = { 0, WATCH_BUSY_NS };
	const struct timespec late = { WATCH_IDLE_S, 0 };
	bool active = true, exiting = false;
	uint64_t seen = 0, ticked = metrics_now_ns();
	int signal;

	pthread_mutex_lock(&l->lock);
	while (!l->ended) {
		pthread_mutex_unlock(&l->lock);
		signal = sigtimedwait(signals, NULL, active ? &soon : &late);
		if (metrics_now_ns() - ticked >= TICK_NS) {
			l->tick(l->context);
			ticked = metrics_now_ns();
		}
		pthread_mutex_lock(&l->lock);
		if (signal > 0 && signal != SIGUSR1 && !exiting) {
			exiting = true;
			fuse_session_exit(l->session);
		}
		/* The leader may just be about to read: so again each time. */
		if (exiting && l->leader && !l->ended)
			pthread_kill(l->thread, SIGUSR1);
		if (l->leader && l->busy && l->turns == seen) {
			l->leader = 0;
			pthread_cond_signal(&l->change);
		}
		active = exiting || l->turns != seen;
		seen = l->turns;
	}
	pthread_mutex_unlock(&l->lock);
}

static void ignore(int signal)
{
	(void)signal;
}

int loop_serve(struct fuse_session *session, const sigset_t *ending,
	       struct metrics *metrics, void (*tick)(void *context),
	       void *context)
{
	struct loop l = {
		.session = session,
		.metrics = metrics,
		.tick = tick,
		.context = context,
		.main = pthread_self(),
	};
	struct sigaction kick = { .sa_handler = ignore }; /* no restart */
	struct bg *threads[LOOP_THREADS] = { NULL };
	sigset_t signals = *ending, before;
	int i, err = 0;

	sigaddset(&signals, SIGUSR1);
	sigaction(SIGUSR1, &kick, NULL);
	signal(SIGPIPE, SIG_IGN);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	pthread_mutex_init(&l.lock, NULL);
	pthread_cond_init(&l.change, NULL);
	for (i = 0; i < LOOP_THREADS && !err; i++)
		err = bg_start(work, NULL, 0, &l, &threads[i]);
	/* One is enough to serve. */
	if (threads[0])
		watch(&l, &signals);
	else
		l.error = err;
	for (i = 0; i < LOOP_THREADS; i++)
		bg_stop(threads[i]);
	pthread_cond_destroy(&l.change);
	pthread_mutex_destroy(&l.lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return l.error;
}
