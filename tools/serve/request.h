#ifndef TOOLS_SERVE_REQUEST_H
#define TOOLS_SERVE_REQUEST_H

#include "tools/serve/call_state.h"

/*
 * How a request comes in, for the connection's thread. What is wrong with it
 * ends the call, with its status, as call_end does, and the rest of it is
 * passed over.
 *
 * A peer may send the first REQUEST_WINDOW bytes of any stream. When a longer
 * message announces itself its memory is taken as a whole, and only then its
 * window opened: who waits for memory holds next to nothing. What is more than
 * the account may ever have is let in alone, one at a time.
 */
#define REQUEST_WINDOW 65535
/* Names and values of metadata, as bytes. */
#define REQUEST_METADATA_MAX 16384

/* A header, in the order in which they come. */
void request_header(struct call *c, struct bytes name, struct bytes value);

/* All headers are here: finds the route and the deadline. */
void request_head(struct call *c);

/* Bytes of the body. */
void request_data(struct call *c, struct bytes data);

/* Asks again for the memory that a call is starved of: whether it got it, and
 * the peer may send. */
bool request_retry(struct call *c);

/* The body has ended. */
void request_end(struct call *c);

/* How large the stream's window has to be for the whole message: more than
 * REQUEST_WINDOW, or 0. */
uint32_t request_window(const struct call *c);

/* The request's memory is given back, as when the call ends. */
void request_release(struct call *c);

#endif
