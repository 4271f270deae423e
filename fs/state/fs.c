#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fs/state/fs.h"
#include "fs/state/path.h"

uint64_t fs_now(void)
{
	return clock_now(&clock_real);
}

void fs_changed(struct fs *fs)
{
	atomic_fetch_add(&fs->changes, 1);
}

void fs_log_error(struct fs *fs, struct node *node, const char *name, int err)
{
	struct buf path = BUF_INIT;

	if (node && node_print_path(&fs->nodes, node, &path))
		goto release;
	if (name && ((path.size != 1 && buf_add_byte(&path, '/')) ||
		     buf_add_string(&path, name)))
		goto release;
	errors_add(&fs->errors, buf_bytes(&path), err);
release:
	buf_release(&path);
}

/* Errors that are answers (no such file) come without a detail. */
static bool is_worth_telling(int err)
{
	return *err_detail() || err == -EIO || err == -ENOMEM || err == -ENOSPC;
}

void fs_reply_error(struct fs *fs, fuse_req_t req, struct node *node,
		    const char *name, int err)
{
	if (err && is_worth_telling(err))
		fs_log_error(fs, node, name, err);
	fuse_reply_err(req, err ? err_errno(err) : 0);
}
