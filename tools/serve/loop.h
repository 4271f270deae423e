#ifndef TOOLS_SERVE_LOOP_H
#define TOOLS_SERVE_LOOP_H

#include "tools/serve/listen.h"
#include "tools/serve/transport.h"

/*
 * A thread that moves the frames of its connections, which it takes from a
 * listener that it shares with others: who is free takes the next.
 */
struct loop;

/* connections counts those of all loops. Both are borrowed, as transport's
 * parts are; its inbox is made here. 0 or negative. */
int loop_new(const struct transport *t, const struct listener *listener,
	     atomic_uint *connections, struct loop **out);

/* 0, -ENOMEM or -EAGAIN. */
int loop_start(struct loop *l);

/* Takes no more connections and ends those that there are, as server_stop says;
 * returns at once. */
void loop_stop(struct loop *l);

/* Waits until that is done. */
void loop_join(struct loop *l);

/* Not while its thread runs, nor workers that know it. NULL is allowed. */
void loop_free(struct loop *l);

#endif
