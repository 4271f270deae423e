#ifndef TOOLS_PAST_DIFF_H
#define TOOLS_PAST_DIFF_H

#include "tools/verb/verb.h"

/* What differs in a table between two moments, a line for each version: - what
 * is only at the first, + what is only at the second. 0: nothing does; 1; or 2
 * after it said what is wrong. */
int verb_diff(struct verb_call *c);

#endif
