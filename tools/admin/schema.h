#ifndef TOOLS_ADMIN_SCHEMA_H
#define TOOLS_ADMIN_SCHEMA_H

#include "tools/verb/verb.h"

int verb_createtable(struct verb_call *c);
int verb_deletetable(struct verb_call *c);
int verb_ls(struct verb_call *c);
int verb_createfamily(struct verb_call *c);
int verb_deletefamily(struct verb_call *c);
int verb_setgcpolicy(struct verb_call *c);
int verb_setvaluetype(struct verb_call *c);

#endif
