#include <errno.h>
#include <linux/fuse.h>
#include <unistd.h>

#include "fs/fs.h"

/* In the kernel since 6.16, not yet in the headers here. */
#define NOTIFY_INC_EPOCH 8

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
}
