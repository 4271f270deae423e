#ifndef TOOLS_PAST_UNDELETE_H
#define TOOLS_PAST_UNDELETE_H

#include "tools/verb/verb.h"

/* A table that was dropped comes back, of the last moment that has it, up to a
 * time, with all that it was then, but owner and mode, which are the last that
 * it had. Until it is whole it is NAME.partial, which goes
 * if it fails, or, if it was killed, when the next one begins. Prints the
 * moment and how many rows. */
int verb_undelete(struct verb_call *c);

#endif
