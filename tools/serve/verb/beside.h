#ifndef TOOLS_SERVE_VERB_BESIDE_H
#define TOOLS_SERVE_VERB_BESIDE_H

#include "fs/state/options.h"
#include "tools/serve/listen.h"
#include "tools/serve/method/method.h"

/*
 * The server beside a mount, -o serve=: the process that mounts listens, so
 * that what is wrong with the address is said before anything is made, and the
 * daemon, which may be its child, has the socket from it and serves.
 */
struct beside {
	struct listener listener;
	struct server *server; /* NULL: not begun */
	struct service service;
	struct mount_beside told;
};

/* Listens, if o asks for that, and tells o what the daemon has to know. 0, or
 * negative with a sentence by fail(). b outlives the mount. */
int beside_open(struct beside *b, struct mount_options *o);

/* This process listens no more, if it still does. served: the daemon has taken
 * over, so that what lies at a path is its own. The address stays. */
void beside_close(struct beside *b, bool served);

#endif
