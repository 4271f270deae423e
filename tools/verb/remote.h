#ifndef TOOLS_VERB_REMOTE_H
#define TOOLS_VERB_REMOTE_H

#include "fs/kernel/served.h"
#include "tools/verb/verb.h"

/*
 * Commands on a store that is mounted: they run inside the daemon that has it,
 * reached through MNT/.tabletfs/ctl (the protocol is in fs/kernel/mount.h).
 */

/* Runs c there, with what it prints on c->out and c->err: its exit status; 1
 * after it said what is wrong, if the daemon cannot be reached or ends. */
int remote_run(struct verb_call *c, const struct served *served);

#endif
