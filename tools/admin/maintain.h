#ifndef TOOLS_ADMIN_MAINTAIN_H
#define TOOLS_ADMIN_MAINTAIN_H

#include "tools/verb/verb.h"

int verb_backup(struct verb_call *c);
int verb_check(struct verb_call *c);
int verb_compact(struct verb_call *c);
int verb_repair(struct verb_call *c);
int verb_stats(struct verb_call *c);
int verb_sync(struct verb_call *c);

#endif
