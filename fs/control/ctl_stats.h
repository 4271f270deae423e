#ifndef FS_CONTROL_CTL_STATS_H
#define FS_CONTROL_CTL_STATS_H

#include "fs/control/ctl.h"

/* Figures of the filesystem, for .tabletfs/stats; with the store's, for
 * .tabletfs/metrics. */
int ctl_print_stats(struct fs *fs, struct buf *out);
int ctl_print_metrics(struct fs *fs, struct buf *out);

#endif
