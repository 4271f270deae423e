#ifndef TOOLS_DATA_SET_H
#define TOOLS_DATA_SET_H

#include "tools/verb/verb.h"

int verb_set(struct verb_call *c);
int verb_addtocell(struct verb_call *c);
int verb_mutate(struct verb_call *c);

#endif
