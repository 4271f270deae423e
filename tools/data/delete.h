#ifndef TOOLS_DATA_DELETE_H
#define TOOLS_DATA_DELETE_H

#include "tools/verb/verb.h"

/* Verbs that delete cells. Each is one write, durable when it ends with 0; it
 * prints nothing then. 1 says what is wrong: a table or family that is unknown,
 * but not a row or column that is not there. */

/* A row. */
int verb_deleterow(struct verb_call *c);

/* All cells of one column of a row. */
int verb_deletecolumn(struct verb_call *c);

/* The rows with a prefix, or of a range that is not open on both sides. */
int verb_deleterows(struct verb_call *c);

/* The rows of a table; the table and its families stay. */
int verb_deleteallrows(struct verb_call *c);

#endif
