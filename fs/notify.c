#include <errno.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/dir.h"
#include "fs/fs.h"

/* In the kernel since 6.16, not yet in the headers here. */
#define NOTIFY_INC_EPOCH 8

/*
 * Lists of directories that are open are cached with their pages, which no
 * epoch ends. Dropping those waits for no request: a list's pages are locked
 * only while a reply is copied into them, never while one is awaited.
 */
static void drop_lists(struct fs *fs)
{
	uint64_t few[16], *ids = few;
	size_t max = 16, count, i;

	count = dir_open_ids(fs, ids, max);
	if (count > max) {
		max = count * 2;
		ids = calloc(max, sizeof(*ids));
		if (!ids)
			return;
		count = dir_open_ids(fs, ids, max);
	}
	for (i = 0; i < count && i < max; i++)
		fuse_lowlevel_notify_inval_inode(fs->session, ids[i], 0, 0);
	if (ids != few)
		free(ids);
}

/*
 * The kernel counts epochs: an entry from an older one is looked up again, with
 * its attributes. Telling it takes no lock of the kernel's that a request
 * holds, so any thread may, also while it serves a request. libfuse 3.14 has no
 * call for it; the message is a bare header.
 */
void fs_changed_outside(struct fs *fs)
{
	struct fuse_out_header message = { sizeof(message), NOTIFY_INC_EPOCH,
					   0 };
	int fd;

	atomic_fetch_add(&fs->changes, 1);
	atomic_fetch_add(&fs->outside, 1);
	if (!fs->session || !fs->has_epochs)
		return;
	fd = fuse_session_fd(fs->session);
	if (fd >= 0 && write(fd, &message, sizeof(message)) < 0 &&
	    errno == EINVAL)
		fs->has_epochs = false;
	drop_lists(fs);
}
