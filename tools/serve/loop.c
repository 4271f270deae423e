#include <assert.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/base/bg.h"
#include "store/base/err.h"
#include "tools/serve/connection.h"
#include "tools/serve/loop.h"
#include "tools/serve/peer.h"

#define EVENTS 64
/* Sends for one connection before others have their turn. */
#define SENDS_MAX 16
/* How often time is looked at while there are calls, and while there are only
 * connections. */
#define CALLS_TICK_MS 20
#define IDLE_TICK_MS 500
/* For the peer to read the last bytes, and between the notice of a stop and
 * its GOAWAY. */
#define LINGER_MS 1000
#define NOTICE_MS 100
/* For what is left after the calls have ended, and for the resets of those
 * that then are within a message. */
#define END_MS 500
#define CUT_MS 100

/* A socket, and its connection until that has ended: then it waits for the peer
 * to close, so that what was sent last arrives. */
struct client {
	struct client *next, *previous;
	int fd;
	uint32_t events; /* that epoll waits for */
	uint64_t sent;   /* bytes that the kernel has, */
	uint64_t taken;  /* and of these the peer */
	struct connection *connection;
	bool refused; /* not counted among those that there may be */
	bool deaf;    /* the peer sends no more: nothing is read */
	bool dirty;   /* has something to send; in the list of these */
	bool dead;    /* to be freed; then it is dirty too */
	struct client *next_dirty;
	uint64_t linger_ms; /* since when; 0: it has a connection */
};

struct clients {
	struct client *first, *last;
	unsigned int count;
};

enum phase { RUNNING, NOTICED, GOING, ENDING, CUTTING, STOPPED };

struct loop {
	struct transport transport;
	const struct listener *listener;
	atomic_uint *connections;
	struct bg *bg;
	int epoll;
	struct clients clients;   /* with a connection */
	struct clients lingering; /* without; the oldest first */
	unsigned int refused;     /* clients that are not counted */
	struct client *dirty;
	bool accepting;
	enum phase phase;
	uint64_t phase_ms; /* when it began */
	uint64_t tick_ms;  /* the last */
	uint64_t said_ms;  /* the last line of the log; 0: none */
	atomic_bool stop;
	pthread_mutex_t lock; /* with stopped */
	pthread_cond_t changed;
	bool stopped;
	uint8_t input[CONNECTION_READ_MAX];
};

/* A line a second at most: peers can make many. */
static void say(struct loop *l, const char *line)
{
	const struct server_options *o = l->transport.options;
	uint64_t now_ms = transport_ms();

	if (!o->log || (l->said_ms && now_ms < l->said_ms + 1000))
		return;
	l->said_ms = now_ms;
	o->log(o->log_context, line);
}

static void mark(struct loop *l, struct client *c)
{
	if (c->dirty)
		return;
	c->dirty = true;
	c->next_dirty = l->dirty;
	l->dirty = c;
}

static void kill_client(struct loop *l, struct client *c)
{
	c->dead = true;
	mark(l, c);
}

static void add_to(struct clients *list, struct client *c)
{
	c->next = NULL;
	c->previous = list->last;
	if (list->last)
		list->last->next = c;
	else
		list->first = c;
	list->last = c;
	list->count++;
}

static void remove_from(struct clients *list, struct client *c)
{
	if (c->previous)
		c->previous->next = c->next;
	else
		list->first = c->next;
	if (c->next)
		c->next->previous = c->previous;
	else
		list->last = c->previous;
	list->count--;
}

static void drop_connection(struct loop *l, struct client *c)
{
	connection_free(c->connection);
	c->connection = NULL;
	if (c->refused)
		l->refused--;
	else
		atomic_fetch_sub(l->connections, 1);
	remove_from(&l->clients, c);
}

static void free_client(struct loop *l, struct client *c)
{
	if (c->connection)
		drop_connection(l, c);
	else
		remove_from(&l->lingering, c);
	close(c->fd);
	free(c);
}

/* Errors, and that the peer is gone, epoll tells in any case. */
static void set_events(struct loop *l, struct client *c, uint32_t events)
{
	struct epoll_event e = { .data.ptr = c };

	if (c->deaf)
		events &= ~(uint32_t)EPOLLIN;
	if (c->events == events)
		return;
	e.events = events;
	c->events = events;
	if (epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &e) < 0)
		kill_client(l, c);
}

static void set_accepting(struct loop *l, bool accepting)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLEXCLUSIVE,
				 .data.ptr = &l->listener };

	if (l->accepting == accepting)
		return;
	if (epoll_ctl(l->epoll, accepting ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
		      l->listener->fd, &e) == 0)
		l->accepting = accepting;
}

/* Whether the peer may have a connection; if not, why not, as an error of
 * HTTP/2 and a sentence. */
static bool may_connect(struct loop *l, int fd, uint32_t *code, char *why,
			size_t why_size)
{
	const struct server_options *o = l->transport.options;
	uid_t uid;

	*code = NGHTTP2_INADEQUATE_SECURITY;
	if (!o->users_all && !l->listener->remote) {
		if (peer_uid(fd, &uid) < 0) {
			snprintf(why, why_size, "%s", err_detail());
			return false;
		}
		if (uid != o->uid) {
			snprintf(why, why_size,
				 "uid %u may not connect, only uid %u; "
				 "serve users=all lets everybody in",
				 uid, o->uid);
			return false;
		}
	}
	*code = NGHTTP2_ENHANCE_YOUR_CALM;
	if (atomic_fetch_add(l->connections, 1) < o->connections_max)
		return true;
	atomic_fetch_sub(l->connections, 1);
	snprintf(why, why_size, "there are %u connections, and no more",
		 o->connections_max);
	return false;
}

/* The descriptor is closed if it fails. */
static int add_client(struct loop *l, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct client *c = calloc(1, sizeof(*c));
	char why[256];
	uint32_t code;

	if (!c)
		goto close_fd;
	c->fd = fd;
	c->events = e.events;
	e.data.ptr = c;
	c->refused = !may_connect(l, fd, &code, why, sizeof(why));
	if (c->refused)
		say(l, why);
	if (connection_new(&l->transport, c, &c->connection) < 0 ||
	    (c->refused && connection_refuse(c->connection, code, why) < 0) ||
	    epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) < 0)
		goto uncount;
	l->refused += c->refused;
	add_to(&l->clients, c);
	mark(l, c);
	return 0;

uncount:
	if (c->connection)
		connection_free(c->connection);
	if (!c->refused)
		atomic_fetch_sub(l->connections, 1);
	free(c);
close_fd:
	close(fd);
	return -ENOMEM;
}

/* Whether there are as many sockets besides those of connections as may be, so
 * that who comes in crowds leaves the store its descriptors. The oldest end
 * then, which is when others can be accepted. */
static bool is_crowded(struct loop *l)
{
	unsigned int most = l->transport.options->others_max, i;
	struct client *c = l->lingering.first;

	if (l->refused + l->lingering.count < most)
		return false;
	for (i = 0; c && i <= most / 4; i++, c = c->next)
		kill_client(l, c);
	return true;
}

/* Without descriptors or memory the listener stays readable: it is left alone
 * until the next tick. */
static void accept_some(struct loop *l)
{
	int i, fd, one = 1;

	for (i = 0; i < EVENTS && !is_crowded(l); i++) {
		fd = accept4(l->listener->fd, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE ||
			    errno == ENOMEM || errno == ENOBUFS) {
				say(l, "a connection has to wait: there are "
				       "no descriptors, or no memory");
				set_accepting(l, false);
			}
			return;
		}
		/* On a unix socket it means nothing. */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
				 sizeof(one));
		(void)add_client(l, fd);
	}
}

/* The peer sends no more. Of TCP nobody knows yet whether it still reads: if
 * not, what it is sent comes back as an error, which epoll tells in any
 * case. */
static void end_input(struct loop *l, struct client *c, bool gone)
{
	if (gone || c->deaf || !c->connection ||
	    !connection_end_input(c->connection)) {
		kill_client(l, c);
		return;
	}
	c->deaf = true;
	mark(l, c);
}

static void read_client(struct loop *l, struct client *c, uint32_t events)
{
	ssize_t n = recv(c->fd, l->input, sizeof(l->input), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end_input(l, c, n < 0 || events & (EPOLLHUP | EPOLLERR));
		return;
	}
	if (!c->connection)
		return;
	if (connection_receive(c->connection, bytes_of(l->input, (size_t)n)) <
	    0)
		kill_client(l, c);
	mark(l, c);
}

/* The connection has ended; the socket remains until the peer closes it, or
 * others have been waiting shorter. What the peer sends meanwhile is read: to
 * close before it would take back what was sent to it. */
static void linger(struct loop *l, struct client *c)
{
	drop_connection(l, c);
	add_to(&l->lingering, c);
	c->linger_ms = transport_ms();
	shutdown(c->fd, SHUT_WR);
	set_events(l, c, EPOLLIN);
}

/* 1: there may be more to send, 0: there is not, or the peer takes no more. */
static int send_once(struct loop *l, struct client *c)
{
	struct bytes out;
	ssize_t n;

	if (connection_output(c->connection, &out) < 0)
		return -EPROTO;
	if (out.size == 0) {
		set_events(l, c, EPOLLIN);
		return 0;
	}
	n = send(c->fd, out.data, out.size, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (n > 0) {
		connection_sent(c->connection, (size_t)n);
		c->sent += (size_t)n;
	}
	/* Nothing is read meanwhile: the answers would have no place. */
	if (n < (ssize_t)out.size) {
		set_events(l, c, EPOLLOUT);
		return 0;
	}
	return 1;
}

static void flush_client(struct loop *l, struct client *c)
{
	int i, more = 1;

	for (i = 0; i < SENDS_MAX && more > 0; i++)
		more = send_once(l, c);
	if (more < 0)
		kill_client(l, c);
	else if (more > 0)
		set_events(l, c, EPOLLIN | EPOLLOUT);
	else if (connection_is_over(c->connection))
		linger(l, c);
	else if (c->refused)
		kill_client(l, c);
}

static void flush_dirty(struct loop *l)
{
	struct client *c;

	while ((c = l->dirty)) {
		l->dirty = c->next_dirty;
		c->dirty = false;
		if (!c->dead && c->connection)
			flush_client(l, c);
		/* Killed by that, it is in the list again. */
		if (c->dead && !c->dirty)
			free_client(l, c);
	}
}

static void read_inbox(struct loop *l)
{
	struct connection *connection;
	struct note *n;
	int err;

	inbox_clear(&l->transport.inbox);
	while ((n = inbox_take(&l->transport.inbox))) {
		err = connection_settle((struct call *)n, &connection);
		if (!connection)
			continue;
		if (err < 0)
			kill_client(l, connection_owner(connection));
		mark(l, connection_owner(connection));
	}
}

/* What the kernel still has of it is what the peer's has not acknowledged, or
 * of a socket of a path what the peer has not read, and something for each
 * piece. */
static void look_taken(struct client *c)
{
	int queued;

	if (c->taken == c->sent || ioctl(c->fd, SIOCOUTQ, &queued) < 0 ||
	    queued < 0 || c->sent < (uint64_t)queued + c->taken)
		return;
	c->taken = c->sent - (uint64_t)queued;
	connection_taken(c->connection, c->taken);
}

static void tick(struct loop *l, uint64_t now_ms)
{
	struct client *c;

	l->tick_ms = now_ms;
	if (l->phase == RUNNING)
		set_accepting(l, true);
	for (c = l->clients.first; c; c = c->next) {
		look_taken(c);
		if (connection_tick(c->connection, now_ms) < 0)
			kill_client(l, c);
		mark(l, c);
	}
	for (c = l->lingering.first; c; c = c->next)
		if (now_ms > c->linger_ms + LINGER_MS)
			kill_client(l, c);
}

static void stop_connections(struct loop *l, enum connection_stop how)
{
	struct client *c;

	for (c = l->clients.first; c; c = c->next) {
		if (connection_stop(c->connection, how) < 0)
			kill_client(l, c);
		mark(l, c);
	}
}

static void kill_all(struct loop *l, const struct clients *list)
{
	struct client *c;

	for (c = list->first; c; c = c->next)
		kill_client(l, c);
}

static bool has_clients(const struct loop *l)
{
	return l->clients.first || l->lingering.first;
}

/* Stopping, step by step: which is due at this time. */
static void stop_further(struct loop *l, uint64_t now_ms)
{
	static const enum connection_stop steps[] = {
		[RUNNING] = STOP_NOTICE,
		[NOTICED] = STOP_GOAWAY,
		[GOING] = STOP_CALLS,
		[ENDING] = STOP_CUT,
	};
	uint64_t waits[] = { [RUNNING] = 0,
			     [NOTICED] = NOTICE_MS,
			     [GOING] = l->transport.options->stop_ms,
			     [ENDING] = END_MS,
			     [CUTTING] = CUT_MS };

	if (l->phase == STOPPED || now_ms < l->phase_ms + waits[l->phase])
		return;
	if (l->phase == RUNNING)
		set_accepting(l, false);
	if (l->phase < CUTTING) {
		stop_connections(l, steps[l->phase]);
	} else {
		kill_all(l, &l->clients);
		kill_all(l, &l->lingering);
	}
	l->phase++;
	l->phase_ms = now_ms;
}

/* Whether all has ended. Calls that handlers still have are waited for. */
static bool is_stopped(struct loop *l)
{
	if (l->phase == RUNNING || has_clients(l) || l->transport.calls)
		return false;
	pthread_mutex_lock(&l->lock);
	l->stopped = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return true;
}

static int timeout(const struct loop *l)
{
	if (atomic_load(&l->stop) || l->transport.calls)
		return CALLS_TICK_MS;
	return has_clients(l) || !l->accepting ? IDLE_TICK_MS : -1;
}

static int step(void *context)
{
	struct loop *l = context;
	struct epoll_event events[EVENTS];
	uint64_t now_ms;
	int i, n;

	if (is_stopped(l))
		return 0;
	n = epoll_wait(l->epoll, events, EVENTS, timeout(l));
	for (i = 0; i < n; i++) {
		struct client *c = events[i].data.ptr;

		if (events[i].data.ptr == &l->listener) {
			accept_some(l);
		} else if (events[i].data.ptr == &l->transport.inbox) {
			read_inbox(l);
		} else if (!c->dead) {
			if (events[i].events & ~(uint32_t)EPOLLOUT)
				read_client(l, c, events[i].events);
			mark(l, c);
		}
	}
	now_ms = transport_ms();
	if (atomic_load(&l->stop))
		stop_further(l, now_ms);
	if (now_ms >= l->tick_ms + CALLS_TICK_MS)
		tick(l, now_ms);
	flush_dirty(l);
	return 1;
}

int loop_new(const struct transport *t, const struct listener *listener,
	     atomic_uint *connections, struct loop **out)
{
	struct loop *l = calloc(1, sizeof(*l));
	struct epoll_event e = { .events = EPOLLIN };
	int err;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->transport = *t;
	l->listener = listener;
	l->connections = connections;
	err = inbox_init(&l->transport.inbox);
	if (err < 0)
		goto free_loop;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	e.data.ptr = &l->transport.inbox;
	if (l->epoll < 0 ||
	    epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->transport.inbox.fd, &e) < 0) {
		err = -errno;
		goto release_inbox;
	}
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	set_accepting(l, true);
	*out = l;
	return 0;

release_inbox:
	if (l->epoll >= 0)
		close(l->epoll);
	inbox_release(&l->transport.inbox);
free_loop:
	free(l);
	return err;
}

int loop_start(struct loop *l)
{
	return bg_start(step, NULL, 0, l, &l->bg);
}

void loop_stop(struct loop *l)
{
	atomic_store(&l->stop, true);
	inbox_wake(&l->transport.inbox);
}

void loop_join(struct loop *l)
{
	if (!l->bg)
		return;
	pthread_mutex_lock(&l->lock);
	while (!l->stopped)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
	bg_stop(l->bg);
	l->bg = NULL;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	assert(!l->bg && !has_clients(l) && !l->transport.calls);
	close(l->epoll);
	inbox_release(&l->transport.inbox);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->changed);
	free(l);
}
