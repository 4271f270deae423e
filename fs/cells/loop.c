#include <assert.h>
#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fs/cells/ending.h"
#include "fs/cells/loop.h"
#include "store/base/bg.h"
#include "store/base/probe.h"
#include "store/store.h"

/*
 * The lead is a number, its term: who takes it makes a new one, and who finds
 * another number there, or 0, has lost it. So a leader need not be told, and
 * looks without the lock. The thread that called loop_serve answers nothing: it
 * waits for signals and watches the leader.
 *
 * Without a request, a thread in read(2) is woken by SIGUSR1, whose handler
 * does nothing; before the read begins, the signal is in vain. So whoever has
 * to wake one sends it again until that has worked.
 */

/* A request that waits for a thread, as it was received. */
struct parked {
	struct parked *next;
	struct fuse_buf buf; /* owns its memory, of just the request's size */
};

/* How often to look whether the leader is stuck: while requests come, 10 ms,
 * and while there are none. */
#define WATCH_BUSY_NS 10000000
#define WATCH_IDLE_S 1
#define TICK_NS UINT64_C(1000000000)

struct loop {
	struct fuse_session *session;
	struct requests *metrics;
	void (*tick)(void *context);
	void *context;
	pthread_t main; /* who is told of the end, by SIGUSR1 */
	pthread_mutex_t lock;
	pthread_cond_t change; /* of what follows, which lock guards */
	/* Which term it is; 0: nobody leads. Set with the lock, read by the
	 * leader without it: who has lost the lead may answer one request. */
	_Atomic uint64_t leader;
	uint64_t terms;        /* that there were; the last one's number */
	struct worker *first;  /* the last leader; NULL before there was one */
	unsigned int standby;  /* workers that wait for the lead */
	struct parked *parked; /* the one received first; NULL: none */
	struct parked **parked_end;
	size_t parked_size; /* of their memory */
	struct worker {
		struct bg *bg; /* by its place among those started */
		/* The rest, by the order in which they began to run. */
		pthread_t thread;
		bool lives;
		bool aside; /* at a request, but not, or no more, the leader */
		bool reads; /* between loop_begin_read and loop_end_read */
		/* These are set without the lock: who sent the request, and
		 * whether it waits in read(2), or nearly. */
		_Atomic uid_t uid;
		_Atomic bool receives;
	} workers[LOOP_THREADS];
	unsigned int count; /* of workers started */
	unsigned int alive; /* of workers that have begun to run */
	/* The number of the last request that was begun, and of the last one
	 * that was ended; both are set without the lock. They are equal while
	 * the leader waits for a request. */
	_Atomic uint64_t begun, done;
	_Atomic unsigned int aside; /* workers that are; read also without */
	_Atomic bool ended;         /* the lock, as this is */
	int error;                  /* the first one; what loop_serve returns */
};

/* Of the worker that this thread is; NULL and 0 in others. */
static _Thread_local struct loop *my_loop;
static _Thread_local struct worker *my_worker;
static _Thread_local uint64_t my_term; /* 0: the lead was handed over */
static _Thread_local fuse_req_t my_request;

static int work(void *context);

/* One more worker, or -EAGAIN if there may be no more. With the lock held. */
static int start_worker(struct loop *l)
{
	int err = -EAGAIN;

	assert(l->alive <= l->count && l->count <= LOOP_THREADS);
	if (l->count < LOOP_THREADS)
		err = bg_start(work, NULL, 0, l, &l->workers[l->count].bg);
	if (!err)
		l->count++;
	return err;
}

/* There is something to do for who stands by, or for a new one. If none can be
 * started, who is first done with a request does it. With the lock held. */
static void call_worker(struct loop *l)
{
	if (l->standby == 0)
		start_worker(l);
	pthread_cond_signal(&l->change);
}

/* Whether this worker is at a request without leading. With the lock held. */
static void set_aside(struct loop *l, struct worker *w, bool aside)
{
	if (w->aside == aside)
		return;
	w->aside = aside;
	l->aside += aside ? 1 : -1U;
	assert(l->aside <= LOOP_THREADS);
}

/* Nobody leads, and the last leader is at a request. With the lock held. */
static void give_up_lead(struct loop *l)
{
	l->leader = 0;
	set_aside(l, l->first, true);
	call_worker(l);
}

void loop_hand_over(void)
{
	struct loop *l = my_loop;

	if (!l || my_term == 0)
		return;
	pthread_mutex_lock(&l->lock);
	/* It may have been taken already. */
	if (l->leader == my_term)
		give_up_lead(l);
	pthread_mutex_unlock(&l->lock);
	my_term = 0;
}

void loop_begin(fuse_req_t req)
{
	my_request = req;
	store_scratch_for(loop_uid());
}

uid_t loop_uid(void)
{
	return my_request ? fuse_req_ctx(my_request)->uid : getuid();
}

bool loop_is_interrupted(void)
{
	return (my_loop && my_loop->ended) ||
	       (my_request && fuse_req_interrupted(my_request));
}

int loop_begin_read(void)
{
	struct loop *l = my_loop;
	unsigned int all = 0, mine = 0, i;
	uid_t uid = loop_uid();
	int err = 0;

	if (!l)
		return 0;
	pthread_mutex_lock(&l->lock);
	for (i = 0; i < l->alive; i++) {
		all += l->workers[i].reads;
		mine += l->workers[i].reads && l->workers[i].uid == uid;
	}
	if (mine >= LOOP_USER_READS_MAX)
		err = fail(EBUSY,
			   "user %u has %u reads of control files under way, "
			   "as many as one may have: wait until one has ended",
			   uid, mine);
	else if (all >= LOOP_READS_MAX)
		err = fail(EBUSY,
			   "all users have %u reads of control files under "
			   "way, as many as there may be, %u of them user "
			   "%u's: wait until one has ended",
			   all, mine, uid);
	my_worker->reads = !err;
	pthread_mutex_unlock(&l->lock);
	return err;
}

void loop_end_read(void)
{
	if (!my_loop)
		return;
	pthread_mutex_lock(&my_loop->lock);
	my_worker->reads = false;
	pthread_mutex_unlock(&my_loop->lock);
}

/* Ends the loop, with 0 or the error that broke the session: tells the watching
 * thread and who stands by. Others find out by themselves or are told by
 * end_workers. With the lock held. */
static void end(struct loop *l, int error)
{
	assert(error <= 0);
	if (!l->ended)
		pthread_kill(l->main, SIGUSR1);
	l->ended = true;
	if (error && !l->error)
		l->error = error;
	pthread_cond_broadcast(&l->change);
}

/* Whether the kernel waits for an answer to it; else it is quick, and may be
 * about one that is parked. */
static bool is_answered(uint32_t opcode)
{
	return opcode != FUSE_FORGET && opcode != FUSE_BATCH_FORGET &&
	       opcode != FUSE_INTERRUPT && opcode != FUSE_DESTROY;
}

/* Of what ls and stat send. */
static bool is_listing(uint32_t opcode)
{
	return opcode == FUSE_LOOKUP || opcode == FUSE_GETATTR ||
	       opcode == FUSE_OPENDIR || opcode == FUSE_READDIR ||
	       opcode == FUSE_READDIRPLUS || opcode == FUSE_RELEASEDIR ||
	       opcode == FUSE_STATFS || opcode == FUSE_ACCESS ||
	       opcode == FUSE_READLINK;
}

/* Whether one more request like this may take a thread for long: see loop.h.
 * With the lock held. */
static bool may_take_thread(const struct loop *l,
			    const struct fuse_in_header *request)
{
	unsigned int left = LOOP_THREADS - l->aside, mine = 0, i;

	for (i = 0; i < l->alive; i++)
		mine += l->workers[i].aside &&
			l->workers[i].uid == request->uid;
	return mine < (is_listing(request->opcode) ? left : left / 4 * 3);
}

/* The place in the list of the first parked request that may take a thread, or
 * NULL. With the lock held. */
static struct parked **find_parked(struct loop *l)
{
	const struct fuse_in_header *request, *refused = NULL;
	struct parked **at;

	for (at = &l->parked; *at; at = &(*at)->next) {
		request = (*at)->buf.mem;
		/* Mostly all are one user's. */
		if (refused && refused->uid == request->uid &&
		    is_listing(refused->opcode) == is_listing(request->opcode))
			continue;
		if (may_take_thread(l, request))
			return at;
		refused = request;
	}
	return NULL;
}

/* Parks the request in buf and takes its memory, or returns false. With the
 * lock held. */
static bool park(struct loop *l, struct fuse_buf *buf)
{
	struct parked *p;
	void *mem;

	if (buf->size > LOOP_PARKED_MAX - l->parked_size)
		return false;
	p = malloc(sizeof(*p));
	/* What was received into may be much larger. */
	mem = p ? malloc(buf->size) : NULL;
	if (!mem) {
		free(p);
		return false;
	}
	memcpy(mem, buf->mem, buf->size);
	*p = (struct parked){ .buf = *buf };
	p->buf.mem = mem;
	*l->parked_end = p;
	l->parked_end = &p->next;
	l->parked_size += buf->size;
	return true;
}

/* Takes the request at *at from the list; its memory is the caller's. With the
 * lock held. */
static struct fuse_buf unpark(struct loop *l, struct parked **at)
{
	struct parked *p = *at;
	struct fuse_buf buf = p->buf;

	*at = p->next;
	if (!*at)
		l->parked_end = at;
	l->parked_size -= buf.size;
	free(p);
	return buf;
}

/* Parks the request in buf if it has to wait, without the lock. Which is not
 * needed as long as even one user may have all of what is aside. */
static bool must_wait(struct loop *l, struct fuse_buf *buf)
{
	const struct fuse_in_header *request = buf->mem;
	bool parked;

	if (l->aside < LOOP_THREADS / 4 || !is_answered(request->opcode))
		return false;
	pthread_mutex_lock(&l->lock);
	parked = !may_take_thread(l, request) && park(l, buf);
	pthread_mutex_unlock(&l->lock);
	return parked;
}

/* Answers the request in buf, or leaves it to a handler that answers later, and
 * counts the time until its handler returns. */
static void answer(struct loop *l, struct worker *me, struct fuse_buf *buf)
{
	const struct fuse_in_header *request = buf->mem;
	uint64_t start = histogram_now_ns(), ns;
	/* buf is libfuse's afterwards. */
	unsigned int kind = request->opcode;
	uint64_t number = request->unique;
	struct cost before = thread_cost, taken;

	requests_begin(l->metrics, kind);
	atomic_store_explicit(&me->uid, request->uid, memory_order_relaxed);
	PROBE(request_begin, kind, number);
	fuse_session_process_buf(l->session, buf);
	PROBE(request_end, kind, number);
	ns = histogram_now_ns() - start;
	taken = cost_since(&before);
	requests_end(l->metrics, kind, ns, ns, &taken);
}

/* Receives and answers as long as this thread leads, without the lock. 1 when
 * it has lost the lead, or what ends the loop: 0 or an error. */
static int serve(struct loop *l, struct worker *me, struct fuse_buf *buf,
		 uint64_t term)
{
	uint64_t mine;

	while (!l->ended && l->leader == term) {
		int n;

		atomic_store_explicit(&me->receives, true,
				      memory_order_relaxed);
		n = fuse_session_receive_buf(l->session, buf);
		atomic_store_explicit(&me->receives, false,
				      memory_order_relaxed);

		/* Unmounted, or told to exit. */
		if (n == 0 || fuse_session_exited(l->session))
			return 0;
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n < 0)
			return n;
		mine = atomic_fetch_add_explicit(&l->begun, 1,
						 memory_order_relaxed) +
		       1;
		if (!must_wait(l, buf))
			answer(l, me, buf);
		/* Also of one that has lost the lead meanwhile: a wrong number
		 * for a moment costs at most a thread too many. */
		atomic_store_explicit(&l->done, mine, memory_order_relaxed);
	}
	return 1;
}

/* Takes the lead, which nobody has, and keeps it as long as it can. l->lock is
 * held, but not while serving. */
static void lead(struct loop *l, struct worker *me, struct fuse_buf *buf)
{
	uint64_t term = ++l->terms;
	int n;

	assert(l->leader == 0);
	/* What the last leader is at is no longer watched. */
	l->done = l->begun;
	l->leader = my_term = term;
	l->first = me;
	if (find_parked(l))
		call_worker(l);
	pthread_mutex_unlock(&l->lock);
	n = serve(l, me, buf, term);
	pthread_mutex_lock(&l->lock);
	set_aside(l, me, false);
	if (n <= 0)
		end(l, n);
}

/* Answers a parked request, if one may be. l->lock is held, but not meanwhile.
 */
static bool serve_parked(struct loop *l, struct worker *me)
{
	struct parked **at = find_parked(l);
	const struct fuse_in_header *request;
	struct fuse_buf buf;

	if (!at)
		return false;
	buf = unpark(l, at);
	request = buf.mem;
	me->uid = request->uid; /* by which the next one is found */
	set_aside(l, me, true);
	if (find_parked(l))
		call_worker(l);
	pthread_mutex_unlock(&l->lock);
	answer(l, me, &buf);
	free(buf.mem);
	pthread_mutex_lock(&l->lock);
	set_aside(l, me, false);
	return true;
}

/* A worker's whole life, as one step of a bg thread: leads, answers what was
 * parked, or stands by, until the end. -1, so that bg does not call it again at
 * once. */
static int work(void *context)
{
	struct loop *l = context;
	struct fuse_buf buf = { .mem = NULL };
	struct worker *me;
	sigset_t kick;

	sigemptyset(&kick);
	sigaddset(&kick, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &kick, NULL);
	my_loop = l;
	pthread_mutex_lock(&l->lock);
	/* bg calls it again after the end, until it is stopped. */
	if (l->ended) {
		pthread_mutex_unlock(&l->lock);
		return -1;
	}
	assert(l->alive < LOOP_THREADS);
	me = &l->workers[l->alive++];
	my_worker = me;
	me->thread = pthread_self();
	me->lives = true;
	while (!l->ended) {
		if (!l->leader) {
			lead(l, me, &buf);
			continue;
		}
		if (serve_parked(l, me))
			continue;
		l->standby++;
		pthread_cond_wait(&l->change, &l->lock);
		l->standby--;
	}
	me->lives = false;
	pthread_mutex_unlock(&l->lock);
	my_loop = NULL;
	my_worker = NULL;
	free(buf.mem);
	return -1;
}

/*
 * Waits for the end or for an ending signal, on which it wakes the leader to
 * find that the session exits, and takes the lead from who has answered one
 * request all the time between two looks: for 10 to 20 ms, or up to a second
 * more if none came before. In the thread that called loop_serve, where SIGUSR1
 * is blocked, so that it can be waited for like the others.
 */
static void watch(struct loop *l, const sigset_t *signals)
{
	const struct timespec soon = { 0, WATCH_BUSY_NS };
	const struct timespec late = { WATCH_IDLE_S, 0 };
	bool active = true, exiting = false;
	uint64_t seen = 0, ticked = histogram_now_ns();
	int signal;

	pthread_mutex_lock(&l->lock);
	while (!l->ended) {
		pthread_mutex_unlock(&l->lock);
		signal = sigtimedwait(signals, NULL, active ? &soon : &late);
		if (histogram_now_ns() - ticked >= TICK_NS) {
			l->tick(l->context);
			ticked = histogram_now_ns();
		}
		pthread_mutex_lock(&l->lock);
		if (signal > 0 && signal != SIGUSR1 && !exiting) {
			exiting = true;
			ending_begin();
			fuse_session_exit(l->session);
		}
		/* The leader may just be about to read: so again each time. */
		if (exiting && l->leader && !l->ended)
			pthread_kill(l->first->thread, SIGUSR1);
		if (l->leader && l->done != l->begun && l->begun == seen)
			give_up_lead(l);
		/* An idle mount wakes once a second only. */
		active = exiting || l->begun != seen;
		seen = l->begun;
	}
	pthread_mutex_unlock(&l->lock);
}

/* Ends all workers. One that lost the lead just before it received again may
 * still be at that: so all are told, until none is left. */
static void end_workers(struct loop *l)
{
	struct timespec pause = { 0, 1000000 }; /* a millisecond */
	bool left = true;
	unsigned int i;

	ending_begin();
	while (left) {
		left = false;
		pthread_mutex_lock(&l->lock);
		for (i = 0; i < l->alive; i++) {
			if (!l->workers[i].lives)
				continue;
			left = true;
			if (l->workers[i].receives)
				pthread_kill(l->workers[i].thread, SIGUSR1);
		}
		pthread_mutex_unlock(&l->lock);
		if (left)
			nanosleep(&pause, NULL);
	}
	for (i = 0; i < l->count; i++)
		bg_stop(l->workers[i].bg);
}

/* A signal with this handler interrupts read(2); an ignored one would not. */
static void ignore(int signal)
{
	(void)signal;
}

int loop_serve(struct fuse_session *session, const sigset_t *ending,
	       struct requests *metrics, void (*tick)(void *context),
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
	sigset_t signals = *ending, before;

	sigaddset(&signals, SIGUSR1);
	sigaction(SIGUSR1, &kick, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* Workers inherit the mask, and each unblocks SIGUSR1 for itself. */
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	pthread_mutex_init(&l.lock, NULL);
	pthread_cond_init(&l.change, NULL);
	l.parked_end = &l.parked;
	pthread_mutex_lock(&l.lock);
	l.error = start_worker(&l);
	pthread_mutex_unlock(&l.lock);
	if (!l.error)
		watch(&l, &signals);
	end_workers(&l);
	/* Who sent these is told that the mount has ended. */
	while (l.parked)
		free(unpark(&l, &l.parked).mem);
	pthread_cond_destroy(&l.change);
	pthread_mutex_destroy(&l.lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return l.error;
}
