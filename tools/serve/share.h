#ifndef TOOLS_SERVE_SHARE_H
#define TOOLS_SERVE_SHARE_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "tools/serve/call.h"

/*
 * What calls have of memory, of the account wire: how much of the limit is for
 * whom, which README.md tells, and the token of the one call that goes beyond
 * it. What that has by the token is nobody's loss: it is left out wherever
 * others ask how much there is. Functions that need the call's lock say so.
 */

/* What all calls of one connection have of memory; it is freed with the last
 * who knows it. */
struct share {
	atomic_uint users;
	_Atomic uint64_t held;
	_Atomic uint64_t arrived; /* of that, what came unasked: share_admit */
	atomic_bool stalled; /* the peer did not take what there was of one */
};

/* With one user, or NULL; and one less. */
static inline struct share *share_new(void)
{
	struct share *s = calloc(1, sizeof(*s));

	if (s)
		atomic_init(&s->users, 1);
	return s;
}

static inline void share_put(struct share *s)
{
	if (s && atomic_fetch_sub(&s->users, 1) == 1)
		free(s);
}

/* Takes memory of the account for what a peer sends unasked, of which there is
 * some when others have what calls may have together: whether there was. If
 * not, it is not to be kept. The connection's thread's alone. */
bool share_admit(struct call *c, uint64_t size);

/* Takes memory of the account for the call, of which a connection has a quarter
 * at most, and leaves half if its peer is stalled; or goes beyond that if no
 * other call does so, by one row or request at a time. What is not to be had
 * others are asked to give back soon. share_take needs the lock. */
bool share_ask(struct call *c, uint64_t size);
bool share_take(struct call *c, uint64_t size);

/* Takes it in any case, and gives back what was taken so or by the above. */
void share_count(struct call *c, uint64_t size);
void share_uncount(struct call *c, uint64_t size);

/* Whether a message of this size goes into the queue; then it is counted.
 * Needs the lock. */
bool share_has_room(struct call *c, size_t size);

/* Gives back what the handler keeps, or so much of it. Needs the lock. */
void share_give(struct call *c, uint64_t size);

/* All memory that is counted for it, but that of the queue and of the call
 * itself, is given back: the request is gone, and no handler has the call. */
void share_give_all(struct call *c);

/* The token goes to others when the call has no more than any may have, and
 * that is at most as much beyond what all may. After share_uncount, and needs
 * the lock. */
void share_pass(struct call *c);

/* Whether others wait for memory such as the call has. */
bool share_is_greedy(struct call *c);

/* Whether a call may have its first run. A message of its answer it has in any
 * case, so that it waits while calls together have too much; not for what it
 * has much of itself, which only its run gives back. */
bool share_may_begin(struct call *c);

#endif
