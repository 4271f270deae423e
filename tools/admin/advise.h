#ifndef TOOLS_ADMIN_ADVISE_H
#define TOOLS_ADMIN_ADVISE_H

#include "tools/verb/verb.h"

/* advise TABLE: what in its data speaks against its schema, and what was looked
 * at, as store/text/advice/advice.h has it. 0 also with advice. */
int verb_advise(struct verb_call *c);

#endif
