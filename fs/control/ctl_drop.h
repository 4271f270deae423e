#ifndef FS_CONTROL_CTL_DROP_H
#define FS_CONTROL_CTL_DROP_H

#include "fs/control/ctl.h"

/*
 * The text of .drop/<step>/<value>/preview: what is in that range of rows, and
 * the token that .drop/.../apply takes to delete it.
 *
 * Appends it to out for f, the preview. Reads the whole range, so it may take
 * long: it hands the lead over, and a signal to whoever asks ends it with
 * -EINTR.
 */
int drop_preview(struct fs *fs, const struct ctl_file *f, struct buf *out)
	EXCLUDES(fs->tree);

#endif
