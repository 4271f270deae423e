#ifndef TOOLS_SERVE_REQUEST_H
#define TOOLS_SERVE_REQUEST_H

#include "tools/serve/call_state.h"

/*
 * How a request comes in, for the connection's thread. What is wrong with it
 * ends the call, with its status, as call_end does, and the rest of it is
 * passed over.
 *
 * A peer may send the first REQUEST_WINDOW bytes of any stream. Of a longer
 * message memory is taken, and the window opened, piece by piece as it comes,
 * so that what is slow holds little more than has come. Where calls together
 * have what their account may have, one of them at a time goes on beyond that,
 * and others wait for it; if its peer takes longer than piece_ms for a piece
 * then, of a request or an answer, it ends.
 */
#define REQUEST_WINDOW 65535
#define REQUEST_PIECE ((uint32_t)1 << 20)
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

/* Whether others wait for what it is too slow to use. */
bool request_is_too_slow(struct call *c, uint64_t now_ms);

/* The body has ended. */
void request_end(struct call *c);

/* How large the stream's window has to be for all that may come so far, counted
 * from its start: more than REQUEST_WINDOW, or 0. */
uint32_t request_window(const struct call *c);

/* Whether no handler has the call, nor will: it is done, or was cancelled.
 * Then the request's memory is given back, whatever the peer takes of the
 * answer; or if a handler has kept something, it is run to give that back. */
bool request_over(struct call *c);

#endif
