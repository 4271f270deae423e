#ifndef TOOLS_HELP_H
#define TOOLS_HELP_H

#include "tools/verb/verb.h"

int verb_help(struct verb_call *c);
int verb_version(struct verb_call *c);

#endif
