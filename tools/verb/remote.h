#ifndef TOOLS_VERB_REMOTE_H
#define TOOLS_VERB_REMOTE_H

#include "tools/verb/verb.h"

/*
 * Commands on a store that is mounted: they run inside the daemon that has it,
 * reached through MNT/.tabletfs/ctl (the protocol is in fs/kernel/mount.h).
 */

/*
 * Where the store is mounted, as its holder's line says: 0 with mount_point
 * replaced and ended by a NUL. -ENOENT if nobody has the store, or, with the
 * reason as the detail, if who has it does not mount it.
 */
int remote_find(const char *store, struct buf *mount_point);

/* Runs c there, with what it prints on c->out and c->err: its exit status; 1
 * after it said what is wrong, if the daemon cannot be reached or ends. */
int remote_run(struct verb_call *c, const char *mount_point);

#endif
