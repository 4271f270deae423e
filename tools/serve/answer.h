#ifndef TOOLS_SERVE_ANSWER_H
#define TOOLS_SERVE_ANSWER_H

#include <nghttp2/nghttp2.h>

#include "tools/serve/call_state.h"

/*
 * How an answer goes out, for the connection's thread: a head, the queue's
 * messages, and the status as trailers; or a head and trailers in one, if there
 * is no message. A call is here while its stream is open. What nghttp2 refuses
 * ends the connection: negative.
 */

/* Goes on with what there is to send, and with a blocked call that has room. */
int answer_attend(nghttp2_session *session, struct call *c);

/* Ends the call with this status, unless all its answer is on the way: at once,
 * or behind the message of which a part is. If the peer does not take the rest
 * of that, it is not the end: see answer_reset. */
int answer_abort(nghttp2_session *session, struct call *c,
		 enum call_status status, const char *text);

/* Ends by a reset a call that was ended so, within a message: INTERNAL_ERROR,
 * after which clients repeat what only reads. */
int answer_reset(nghttp2_session *session, struct call *c);

/* The time has come to this: a call that waited too long for its peer, or for
 * memory, ends; one that waits goes on if it can. */
int answer_tick(nghttp2_session *session, struct call *c, uint64_t now_ms);

/* The same of a call that was cancelled, whose last message is on the way. */
int answer_cut(nghttp2_session *session, struct call *c, uint64_t now_ms);

/* Ends a call for the memory that it has: one for each who waits. */
int answer_end_greedy(nghttp2_session *session, struct call *c,
		      const char *text);

#endif
