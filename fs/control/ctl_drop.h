#ifndef FS_CONTROL_CTL_DROP_H
#define FS_CONTROL_CTL_DROP_H

#include "fs/control/ctl.h"

/* Appends what .drop/.../preview says of the range that path's node is in. */
int drop_preview(struct fs *fs, struct node *node, struct bytes table,
		 struct buf *out);

#endif
