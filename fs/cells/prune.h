#ifndef FS_CELLS_PRUNE_H
#define FS_CELLS_PRUNE_H

#include "fs/state/fs.h"

/*
 * Bounds the memory of nodes. The kernel forgets names only when it needs
 * memory itself, so that one `ls -l` would leave a node for each row of a
 * table. While nodes take more than NODES_MEMORY_MAX, the kernel is asked for
 * each new one to forget two others (FUSE_NOTIFY_PRUNE, Linux 6.18): it drops
 * those that nobody uses, and looks them up again when they are next named.
 *
 * Which two is up to a hand that goes round through the buckets and passes what
 * has children, is open, local, or otherwise referred to: that costs no memory
 * and no time when names are used, of which the kernel tells nothing. A walk
 * over more names than there is room for finds some of them again the next
 * time, which it would not if the oldest were to go.
 *
 * A thread of its own asks: dropping a name takes no lock that a request holds
 * and sends no request but the forgetting, but it could wait for pages that are
 * being written. Nothing depends on the answer.
 */

/* The first kernel interface that has it. */
#define PRUNE_MINOR 45

/* Begins to ask, of a kernel that has PRUNE_MINOR, before the first request
 * that makes a node. Without memory or a thread for it, names are just kept. */
void prune_start(struct fs *fs);

/* Ends it, when requests have ended. Does nothing if it was not begun. */
void prune_stop(struct fs *fs);

/* The ids of the next nodes that can go, to ids, which has room for
 * NODES_PRUNED_AT_ONCE; how many there are. Needs nodes->lock. */
uint32_t prune_choose(struct nodes *nodes, uint64_t *ids);

#endif
