#ifndef TOOLS_DATA_READ_H
#define TOOLS_DATA_READ_H

#include "tools/verb/verb.h"

/* Verbs that show rows. What they print is on c->out, in cbt's layout; it may
 * begin before an error is found, which makes the exit status 1. */

/* The rows of a table that the arguments select; 0 also if there is none. */
int verb_read(struct verb_call *c);

/* One row; an empty one, and 0, if there is none of this key. */
int verb_lookup(struct verb_call *c);

/* The number of rows, in a line. */
int verb_count(struct verb_call *c);

/* A line for each sample, "bytes key", and last the bytes of all. */
int verb_samplekeys(struct verb_call *c);

#endif
