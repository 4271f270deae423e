#ifndef TOOLS_VERB_REMOTE_H
#define TOOLS_VERB_REMOTE_H

#include "tools/verb/verb.h"

/*
 * Commands on a store that is mounted: they run inside the daemon that has it,
 * reached through MNT/.tabletfs/ctl (the protocol is in fs/kernel/mount.h).
 */

/* Where the store is mounted, as its holder's line says, ended by a NUL:
 * -ENOENT with the reason if it is held but not mounted. */
int remote_find(const char *store, struct buf *mount_point);

/* Runs c there: its exit status. */
int remote_run(struct verb_call *c, const char *mount_point);

#endif
