#ifndef TOOLS_SERVE_VERB_ANNOUNCE_H
#define TOOLS_SERVE_VERB_ANNOUNCE_H

#include "tools/verb/verb.h"

/* Prints the line by which a shell has clients come to address. 0, or 1 after
 * it said that it could not be printed. */
int announce(struct verb_call *c, const char *address);

#endif
