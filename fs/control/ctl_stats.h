#ifndef FS_CONTROL_CTL_STATS_H
#define FS_CONTROL_CTL_STATS_H

#include "fs/state/fs.h"

/*
 * Figures of the mount and of the store under it, as text. Each is read at its
 * own moment, so they need not fit together exactly. 0 or -ENOMEM.
 */

/* .tabletfs/stats: of the mount, a name and a value a line. */
int ctl_print_stats(struct fs *fs, struct buf *out);

/* .tabletfs/metrics: of mount and store, the times of requests, and what a
 * server beside the mount tells. context is a struct fs. */
void ctl_print_metrics(void *context, struct figures *f);

#endif
