#ifndef TOOLS_PAST_RESTORE_H
#define TOOLS_PAST_RESTORE_H

#include "tools/verb/verb.h"

/* Rows of a table become what they were at a moment of the past, all of them or
 * those that the words say; of all of them the policies of families, too.
 * Prints what it changes of the schema, a line each, and how many rows. */
int verb_restore(struct verb_call *c);

#endif
