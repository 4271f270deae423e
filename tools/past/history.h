#ifndef TOOLS_PAST_HISTORY_H
#define TOOLS_PAST_HISTORY_H

#include "tools/verb/verb.h"

/* Without words prints, a line each, how far back history is kept, how much it
 * may take, how much it takes, and its oldest moment; or off. With words sets
 * the former two, and prints nothing. */
int verb_history(struct verb_call *c);

#endif
