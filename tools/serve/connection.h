#ifndef TOOLS_SERVE_CONNECTION_H
#define TOOLS_SERVE_CONNECTION_H

#include "tools/serve/call_state.h"

/*
 * A connection of HTTP/2 without its socket: bytes go in and come out. All of
 * it is one thread's, that of the transport. What returns negative has ended
 * the connection: it is to be freed.
 */
struct connection;

/* owner is kept for who made it. 0 or -ENOMEM. */
int connection_new(struct transport *t, void *owner, struct connection **out);

/* Its calls are cancelled; those that handlers have are freed when they come
 * back, see connection_settle. */
void connection_free(struct connection *c);

void *connection_owner(const struct connection *c);

/* Bytes that came from the peer, so many at most; what there is to send should
 * go out before the next. Calls that they complete are run. */
#define CONNECTION_READ_MAX 65536
int connection_receive(struct connection *c, struct bytes data);

/* The peer sends no more, as it may when it has asked for all that it wants:
 * whether there are answers that it may wait for. Requests that are not whole
 * end. There is something to send now and then, which shows if it is gone. */
bool connection_end_input(struct connection *c);

/* What is to be sent to the peer: some 64 KiB of it, or all. Borrowed, until
 * any other call; of which connection_sent tells how much went out. */
int connection_output(struct connection *c, struct bytes *out);
void connection_sent(struct connection *c, size_t size);

/* How many bytes the peer has taken so far: that is a sign of life, as what
 * comes from it is, but for the frame that asks for one. */
void connection_taken(struct connection *c, uint64_t taken);

/* The time has come to this: whatever waited too long ends. */
int connection_tick(struct connection *c, uint64_t now_ms);

/* Nothing will come from the peer, nor go to it, that matters. */
bool connection_is_over(const struct connection *c);

/* The peer is told why, and nothing is taken from it any more: an error code
 * of HTTP/2 and a sentence. */
int connection_refuse(struct connection *c, uint32_t code, const char *text);

/* How the server stops. */
enum connection_stop {
	STOP_NOTICE, /* the peer is asked to send no more calls */
	STOP_GOAWAY, /* no new one is taken; over when those here ended */
	STOP_CALLS,  /* those end, UNAVAILABLE */
	STOP_CUT     /* and those whose peers still take a message, by resets */
};
int connection_stop(struct connection *c, enum connection_stop how);

/* A call of the inbox: goes on with it, or frees it. *out is the connection
 * that has something to send then, or NULL. */
int connection_settle(struct call *call, struct connection **out);

#endif
