#ifndef TOOLS_PAST_PURGE_H
#define TOOLS_PAST_PURGE_H

#include "tools/verb/verb.h"

/* Erases rows from the store and its history. Prints how many rows there were,
 * what was erased and written anew, and that backups were not touched; ends
 * with 1 if not all is gone, having said why. */
int verb_purge(struct verb_call *c);

#endif
