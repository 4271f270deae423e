#ifndef TOOLS_ADMIN_CREATE_H
#define TOOLS_ADMIN_CREATE_H

#include "tools/verb/verb.h"

int verb_create(struct verb_call *c);

#endif
