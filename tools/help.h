#ifndef TOOLS_HELP_H
#define TOOLS_HELP_H

#include "tools/verb/verb.h"

/* Prints the lists of verbs and topics, or all of what there is to say of one;
 * behind -words what may stand behind a verb, as words.h has it. 0, or 1 if
 * there is none of that name. */
int verb_help(struct verb_call *c);

/* Prints "tabletfs " and the version. 0. */
int verb_version(struct verb_call *c);

#endif
