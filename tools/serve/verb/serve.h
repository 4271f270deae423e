#ifndef TOOLS_SERVE_VERB_SERVE_H
#define TOOLS_SERVE_VERB_SERVE_H

#include "tools/verb/verb.h"

/*
 * Serves a store to Bigtable's clients until SIGTERM, SIGINT or SIGHUP: prints
 * the line that a shell needs for them once it takes connections, and ends with
 * 0 when all is durable. 1 if the store cannot be opened, or the address not be
 * listened on.
 */
int verb_serve_store(struct verb_call *c);

#endif
