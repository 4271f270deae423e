#ifndef TOOLS_DATA_SET_H
#define TOOLS_DATA_SET_H

#include "tools/verb/verb.h"

/* Verbs that change cells of a row. They print nothing, and are durable, when
 * they end with 0; 1 says what is wrong. */

/* Sets cells, all of them or none. */
int verb_set(struct verb_call *c);

/* Adds to aggregate cells, to all of them or none. */
int verb_addtocell(struct verb_call *c);

/* Runs row mutations in JSON, each atomic, one after another. The first that is
 * wrong, or whose condition does not hold, ends it with 1; those before
 * stay. */
int verb_mutate(struct verb_call *c);

#endif
