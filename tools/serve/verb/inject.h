#ifndef TOOLS_SERVE_VERB_INJECT_H
#define TOOLS_SERVE_VERB_INJECT_H

#include "tools/serve/server.h"

/*
 * Faults on request, for clients that try their retries:
 *
 *	MutateRow:unavailable=1%,latency=50ms;ReadRows:internal=0.5%
 *
 * Rules, with ; between them: a method by its last name, or * for all that no
 * rule before it names; then codes of gRPC, in small letters, with the share of
 * calls that end so without having done anything, and how long each call waits
 * first. Which calls these are is the same each time, by their number.
 */
struct inject;

/* 0, or -ERR_bad_argument with what is wrong, -ENOMEM. */
int inject_parse(const char *text, const struct route *routes,
		 struct inject **out);
void inject_free(struct inject *i); /* NULL is allowed */

/* As server_options.inject; from any thread. */
void inject_draw(void *inject, const char *path, struct server_fault *out);

#endif
