#ifndef TOOLS_SERVE_METHOD_METHOD_H
#define TOOLS_SERVE_METHOD_METHOD_H

#include "store/store.h"
#include "store/text/watch/requests.h"
#include "tools/serve/call.h"
#include "tools/serve/proto/messages.h"

/*
 * What all methods do alike: take the request apart, answer, and say in gRPC's
 * codes what went wrong. A method is a struct route's run, and its context a
 * struct service.
 */
struct service {
	struct store *store;
	/* A write is durable before it is answered. Then it waits for the disk,
	 * so that no other call may wait for it: see call_is_inline. */
	bool sync;
	/* Who keeps something of the store, as a mount does, hears of writes
	 * before their answers; from any thread. NULL: nobody does. */
	void (*changed)(void *context);
	void *changed_context;
	/* Of the calls, whose kinds are their places in routes[], from 1. */
	struct requests calls;
};

/* After whatever may have changed the store, and before anything is answered;
 * err: what came of it. */
static inline void method_changed(struct call *c, const struct service *s,
				  int err)
{
	if (err >= 0)
		call_committed(c);
	if (s->changed)
		s->changed(s->changed_context);
}

/* The request of c, in arena, which is counted as c's; or NULL, and the call
 * has ended by what is wrong with it, or begins anew when there is memory for
 * it: the run then returns CALL_DONE. */
void *method_request(struct call *c, const struct proto_type *type,
		     struct proto_arena *arena);

/* Sends the only message of an answer, whose bytes it takes over, and ends the
 * call by OK: 0, or as call_send, and the call has not ended. */
int method_send(struct call *c, struct buf *message);

/* Each ends the call and returns CALL_DONE: with one message and OK, or by an
 * error of the store. */
enum call_result method_answer(struct call *c, const struct proto_type *type,
			       const void *message);
enum call_result method_failed(struct call *c, int err);

/* Until w, which holds what is to be committed now, is later than what its rows
 * hold (write_wait_us): 0, or 1 where nobody may wait, so that the call has to
 * run again elsewhere. */
int method_await(const struct call *c, const struct write *w);

/* The code that stands for an error, 0 being OK, and the sentence that goes
 * with it, which is valid until the thread's next error. */
enum call_status method_status(int err);
const char *method_text(int err);

#endif
