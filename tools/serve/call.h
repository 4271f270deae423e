#ifndef TOOLS_SERVE_CALL_H
#define TOOLS_SERVE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "store/base/buf.h"

/*
 * What a handler knows of the transport. A call is one RPC of gRPC: a request
 * of one message, which is here as a whole before the handler runs, and an
 * answer of any number of messages and one status.
 *
 * A handler is a function that goes on with a call for a while and tells what
 * the call waits for. It is never run twice at once for one call, but from one
 * run to the next by different threads; all that it keeps it hangs to the call,
 * as call_set_state. The functions below may be called while it runs, by the
 * thread that runs it; call_wake by any.
 */
struct call;

/* google.rpc.Code, as grpc-status has it. */
enum call_status {
	CALL_OK = 0,
	CALL_CANCELLED = 1,
	CALL_UNKNOWN = 2,
	CALL_INVALID_ARGUMENT = 3,
	CALL_DEADLINE_EXCEEDED = 4,
	CALL_NOT_FOUND = 5,
	CALL_ALREADY_EXISTS = 6,
	CALL_PERMISSION_DENIED = 7,
	CALL_RESOURCE_EXHAUSTED = 8,
	CALL_FAILED_PRECONDITION = 9,
	CALL_ABORTED = 10,
	CALL_OUT_OF_RANGE = 11,
	CALL_UNIMPLEMENTED = 12,
	CALL_INTERNAL = 13,
	CALL_UNAVAILABLE = 14,
	CALL_DATA_LOSS = 15,
	CALL_UNAUTHENTICATED = 16
};

/* What a run ends with: when the call is run again. */
enum call_result {
	CALL_DONE,  /* never: call_end was called, or the call was cancelled */
	CALL_AGAIN, /* after others that wait: its time was up */
	CALL_BLOCKED, /* when there is room: call_send said -EAGAIN */
	CALL_SHORT,   /* when there is memory: call_take said no */
	CALL_PARKED   /* when call_wake is called, or was since run began */
};

/* A method. Tables of them end with a NULL path. */
struct route {
	const char *path; /* "/google.bigtable.v2.Bigtable/ReadRows" */
	/* context is what the server was given for all routes. */
	enum call_result (*run)(struct call *c, void *context);
	/* The call has been blocked for a second: the state should give back
	 * what others wait for, as snapshots. NULL: there is nothing. */
	void (*rest)(struct call *c, void *context);
	/* Ends the state. Called once, if there is one, after the last run; by
	 * a thread that runs handlers. */
	void (*release)(void *state);
	/* Requests of at most so many bytes are first run by the thread that
	 * moves the frames of others too: see call_is_inline. 0: none is. */
	size_t inline_max;
};

/* A request, or an answer's message, has no more bytes: 256 MiB, and something
 * for keys and names around it. */
#define CALL_MESSAGE_MAX ((size_t)(256 << 20) + (1 << 20))

/* The path by which the call came. */
const char *call_path(const struct call *c);

/* The request: borrowed, until the call ends. */
struct bytes call_message(const struct call *c);

/* Metadata of the request by its lower-case name; the first, if there are
 * some. Whether there is one. Borrowed, until the call ends. */
bool call_header(const struct call *c, const char *name, struct bytes *value);

/* What the handler keeps from one run to the next: NULL until it is set. */
void *call_state(const struct call *c);
void call_set_state(struct call *c, void *state);

/*
 * Whether nobody waits for the answer: the client cancelled or went away, the
 * deadline has passed, the server's time to stop is up. Who reads ends then,
 * by CALL_DONE; a commit under way is not broken off. What is sent and said
 * afterwards is dropped.
 */
bool call_cancelled(const struct call *c);

/* Whether the run should return CALL_AGAIN soon, or the call is cancelled. It
 * reads the clock: to be asked every some ten microseconds. */
bool call_out_of_time(const struct call *c);

/*
 * Whether the frames of other calls wait for this run. It must not wait for
 * disk or lock longer than a point read or a small write does, and returns
 * CALL_AGAIN as soon as it sees that the request is more than that; then it is
 * run as all others are.
 */
bool call_is_inline(const struct call *c);

/*
 * Queues a message of the answer, whose bytes it takes over: *message is empty
 * then. 0, or
 *
 *   -EAGAIN     the peer takes no more for now, or memory is short: *message is
 *               as it was, to be sent by the next run after CALL_BLOCKED. What
 *               would be the only message in the queue is never refused.
 *   -ECANCELED  as call_cancelled
 *   -EMSGSIZE   more than CALL_MESSAGE_MAX
 *   -ENOMEM
 */
int call_send(struct call *c, struct buf *message);

/*
 * Memory that the handler keeps for the call beyond what it sends, which is
 * counted in the server's share of the store's: of call_take, whether there is
 * so much more, or the call has so little that it does not matter. If there is
 * not, the run gives back what it can do without and returns CALL_SHORT; one
 * that returns CALL_DONE without having ended the call has its state released,
 * and begins anew. A call that gets nothing for long ends. call_hold is for
 * what cannot wait. What was not given back is when the last run is over.
 */
bool call_take(struct call *c, size_t size);
void call_hold(struct call *c, size_t size);
void call_give(struct call *c, size_t size);

/* What the call tells was committed by it, so that nobody makes that untrue:
 * whether it may be told is asked no more. */
void call_committed(struct call *c);

/* Ends the answer, behind what was sent: the run returns CALL_DONE. text, which
 * is copied, is one sentence for people, in UTF-8 and cut after 1,023 bytes, or
 * NULL. No call follows on c by this run. */
void call_end(struct call *c, enum call_status status, const char *text);

/* The same, with a sentence made as by printf. */
__attribute__((format(printf, 3, 4))) void call_fail(struct call *c,
						     enum call_status status,
						     const char *fmt, ...);

/* Has a call run that is parked: once for each CALL_PARKED, before or after run
 * has returned it. Until then the call stays, even if it was cancelled. From
 * any thread; c may be gone when it returns. */
void call_wake(struct call *c);

#endif
