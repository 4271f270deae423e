#ifndef TOOLS_SERVE_CALL_STATE_H
#define TOOLS_SERVE_CALL_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/base/watch/cost.h"
#include "tools/serve/call.h"
#include "tools/serve/grpc.h"
#include "tools/serve/share.h"
#include "tools/serve/transport.h"

/*
 * A call, as the transport has it. At any time either the connection's thread
 * has it, or a handler: then it waits for a worker, runs, or is parked, and the
 * connection only marks it. A handler hands it back through the inbox, as it
 * tells there that there is something to send. It is freed by the connection's
 * thread, when its stream has ended and no handler has it.
 */
struct connection;

/* A message of an answer, as it is sent. */
struct message {
	struct message *next;
	uint8_t prefix[GRPC_PREFIX_SIZE];
	struct buf bytes;
};

enum call_holder {
	HELD_BY_CONNECTION, /* to be run when there is room, or done */
	HELD_BY_HANDLER,    /* waits for a worker or runs */
	HELD_PARKED         /* until call_wake */
};

struct call {
	struct note note;    /* in the transport's inbox */
	struct pool_job job; /* in its pool */
	struct transport *transport;
	const struct route *route; /* NULL: unknown */
	struct share *share;       /* its connection's; used */
	/* Of the request. Not changed after the first run begins. */
	struct buf headers; /* name, NUL, value, NUL, and so on */
	uint8_t prefix[GRPC_PREFIX_SIZE];
	struct buf request;
	uint64_t deadline_us; /* by transport_us; 0: none */

	/* The connection's thread's. */
	struct connection *connection; /* NULL: its stream has ended */
	struct call *next, *previous;  /* of the connection's */
	struct call *next_ready;       /* whose request is complete */
	int32_t stream;
	unsigned int http_status; /* of the answer's head */
	bool metadata_over;       /* there is more than headers may have */
	bool unwelcome;           /* there is no memory for it, or its head */
	bool complete;            /* the request is, or was refused */
	bool ready;               /* in the connection's list of these */
	bool answering;           /* nghttp2 has the head of the answer, */
	bool trailed;             /* and its end */
	bool starved;             /* waits for memory for its request */
	size_t prefix_size;       /* how much of prefix is here */
	uint64_t base;            /* of the account, for itself and its head */
	uint64_t admitted;        /* what it came to by share_admit */
	uint64_t taken;           /* of the account, for the request */
	bool injected;            /* faults were drawn */
	uint64_t due_ms;          /* it is not run before; 0: at once */
	uint64_t received_ms;     /* the last bytes of the request */
	uint64_t sending_ms;      /* since when the peer takes nothing of what
				      there is; 0: there is nothing */
	struct message *current;  /* taken off the queue; sent up to */
	size_t sent;
	bool cut;          /* within a message, by a reset: no more is sent */
	uint64_t piece_ms; /* since when it has the last piece of memory, or
				      the peer the last one of an answer */
	uint64_t short_ms; /* since when it is short; 0: it is not */

	/* A run's. */
	void *state;
	uint64_t out_of_time_us;
	bool is_inline;
	bool committed; /* see call_committed */
	/* Of all runs so far; begun_ns 0: there was none. */
	uint64_t begun_ns, busy_ns;
	struct cost cost;

	atomic_bool cancelled;
	atomic_bool large; /* has transport's token; set under lock */

	pthread_mutex_t lock; /* of all below; held for some instructions */
	enum call_holder holder;
	bool done;  /* no run follows */
	bool woken; /* call_wake came before CALL_PARKED */
	bool rest;  /* the next run is one of rest */
	bool rested;
	struct message *first, *last;
	size_t queued;       /* bytes, with current's */
	size_t resume_below; /* queued, for a blocked call to run again */
	uint64_t kept;       /* what handlers have taken, and not given back */
	uint64_t reserved; /* of the account, for that; less than kept never */
	uint64_t wanted;   /* what kept would have been: it was not to be had */
	bool is_short;     /* and is waited for */
	bool ended;
	enum call_status status;
	struct buf text;
};

static inline bool call_is_late(const struct call *c)
{
	return c->deadline_us && transport_us() >= c->deadline_us;
}

#define CALL_TOO_LATE "The deadline has passed."

/* Whether what a handler has read by now may be told: asked for all that it
 * sends, and its end. If not, the reason is in err_detail(). May take long with
 * wait; without it, not to know is no. */
bool call_may_tell(const struct call *c, bool wait);

/* As call_end, of what tells nothing of the store: it is not asked. */
void call_refuse(struct call *c, enum call_status status, const char *text);

/* The same, whatever it ended with before. Needs lock. */
void call_set_end(struct call *c, enum call_status status, const char *text);

/* For a request of this stream, or NULL. */
struct call *call_new(struct transport *t, struct connection *c,
		      struct share *share, int32_t stream);
/* No handler may have it, and its request is released. */
void call_free(struct call *c);

/* Goes on with a call that the connection's thread has. In this thread until
 * the clock says out_of_time_us, or by a worker. */
void call_run_inline(struct call *c, uint64_t out_of_time_us);
void call_run_later(struct call *c);

/* Nobody waits for it any more: what is queued, but not current, is dropped,
 * and the call ends so, unless it ended before and nothing was dropped. */
void call_cancel(struct call *c, enum call_status status, const char *text);

/* A call that the connection's thread has: runs it, if it was short of memory
 * and now is not. Whether it is. */
bool call_retry(struct call *c);

/* Queue's first, or NULL; it stays counted, see call_message_free. */
struct message *call_take_message(struct call *c);
void call_message_free(struct call *c, struct message *m);

#endif
