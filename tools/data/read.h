#ifndef TOOLS_DATA_READ_H
#define TOOLS_DATA_READ_H

#include "tools/verb/verb.h"

int verb_read(struct verb_call *c);
int verb_lookup(struct verb_call *c);
int verb_count(struct verb_call *c);
int verb_samplekeys(struct verb_call *c);

#endif
