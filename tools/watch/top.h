#ifndef TOOLS_WATCH_TOP_H
#define TOOLS_WATCH_TOP_H

#include "tools/verb/verb.h"

/*
 * Looks on a store that a daemon has, by asking that for its figures again and
 * again (tabletfs metrics). It opens nothing of the store, so it works beside
 * whatever goes on, and of a store that nobody has mounted or served there is
 * nothing to see, which it says. Of a mount that is only read, or another
 * user's, it reads .tabletfs/metrics, which has no ranges of rows.
 */
int verb_top(struct verb_call *c);

#endif
