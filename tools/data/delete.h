#ifndef TOOLS_DATA_DELETE_H
#define TOOLS_DATA_DELETE_H

#include "tools/verb/verb.h"

int verb_deleterow(struct verb_call *c);
int verb_deletecolumn(struct verb_call *c);
int verb_deleterows(struct verb_call *c);
int verb_deleteallrows(struct verb_call *c);

#endif
