#ifndef TOOLS_ADMIN_MAINTAIN_H
#define TOOLS_ADMIN_MAINTAIN_H

#include "tools/verb/verb.h"

/* Verbs that look after the whole store. Each ends with 0, or with 1 after it
 * said what is wrong. */

/* Reads everything; prints a line for each problem, and then ends with 1, or
 * that there is none. */
int verb_check(struct verb_call *c);

/* Rewrites a table, or all, into the fewest files. Prints nothing. */
int verb_compact(struct verb_call *c);

/* Makes a directory a store of what can be read of a damaged one, which
 * TABLETFS_STORE names; prints a line for each loss and a summary. 0 however
 * much is lost. */
int verb_repair(struct verb_call *c);

/* Prints lines "name value": sizes and counters, since the store was opened; a
 * line "trouble TEXT" if it cannot take writes. 0 also then. */
int verb_stats(struct verb_call *c);

/* Makes durable what was written before. Prints nothing. */
int verb_sync(struct verb_call *c);
int verb_waitforreplication(struct verb_call *c);

#endif
