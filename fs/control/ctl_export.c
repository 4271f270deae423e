#include "fs/control/ctl.h"
#include "fs/query/sized.h"

/* An export, open: a ctl_file's state is the struct sized_user. */

/* As ctl_ops.open. */
static int export_open(struct fs *fs, struct ctl_file *f)
{
	struct sized_user *user;
	int err = sized_open(fs, f->node, &user);

	f->state = err ? NULL : user;
	return err;
}

/* As ctl_ops.read. */
static int export_read(struct fs *fs, struct ctl_file *f, uint64_t offset,
		       size_t size, struct buf *out)
{
	return sized_read(fs, f->state, offset, size, out);
}

/* As ctl_ops.release. */
static void export_release(struct fs *fs, struct ctl_file *f)
{
	sized_close(fs, f->state);
}

const struct ctl_ops ctl_export_ops = {
	.open = export_open,
	.read = export_read,
	.release = export_release,
};
