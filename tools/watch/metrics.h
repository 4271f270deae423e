#ifndef TOOLS_WATCH_METRICS_H
#define TOOLS_WATCH_METRICS_H

#include "tools/verb/verb.h"

/* Figures of a store that nobody has mounted or served; of one that is, its
 * daemon tells more, and this is not run. */
int verb_metrics(struct verb_call *c);

#endif
