#include <assert.h>
#include <errno.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/cells/notify.h"

/* In the kernel since 6.16, not yet in the headers here. */
#define NOTIFY_INC_EPOCH 8

static_assert(sizeof(struct fuse_out_header) == 16, "as the kernel has it");

void watch_start(struct fs *fs, struct watch *w, struct node *node)
{
	pthread_mutex_lock(&fs->nodes.lock);
	*w = (struct watch){ .node = node, .next = fs->watches };
	if (w->next)
		w->next->previous = w;
	fs->watches = w;
	pthread_mutex_unlock(&fs->nodes.lock);
}

void watch_end(struct fs *fs, struct watch *w)
{
	pthread_mutex_lock(&fs->nodes.lock);
	if (w->previous)
		w->previous->next = w->next;
	else
		fs->watches = w->next;
	if (w->next)
		w->next->previous = w->previous;
	pthread_mutex_unlock(&fs->nodes.lock);
}

/* How many directories of data are watched, and the ids of at most max. Those
 * of control are not cached. */
static size_t watched(struct fs *fs, uint64_t *ids, size_t max)
{
	struct watch *w;
	size_t count = 0;

	pthread_mutex_lock(&fs->nodes.lock);
	for (w = fs->watches; w; w = w->next) {
		if (!node_is_data(w->node))
			continue;
		if (count < max)
			ids[count] = node_id(&fs->nodes, w->node);
		count++;
	}
	pthread_mutex_unlock(&fs->nodes.lock);
	return count;
}

/*
 * Lists of directories that are open are cached with their pages, which no
 * epoch ends. Dropping those waits for no request: a list's pages are locked
 * only while a reply is copied into them, never while one is awaited.
 */
static void drop_lists(struct fs *fs)
{
	uint64_t few[16], *ids = few; /* mostly enough */
	size_t max = sizeof(few) / sizeof(*few), count, i;

	count = watched(fs, ids, max);
	if (count > max) {
		/* Others may be opened meanwhile. */
		max = count * 2;
		ids = calloc(max, sizeof(*ids));
		if (!ids)
			return;
		count = watched(fs, ids, max);
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

	/* First, so that who began to read before does not keep it. */
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

/*
 * The kernel drops what it keeps of the attributes of directory and of those
 * above it, an offset of -1 being that alone, which takes none of its locks.
 * Each is told once, until it is shown again: a directory in which much is
 * written costs one message. With allow_other nothing is shown, see attr_keep.
 * Parents are for good, so they are walked without a lock.
 */
static void forget_attributes(struct fs *fs, struct node *directory)
{
	for (; directory; directory = directory->parent)
		if (atomic_load_explicit(&directory->shown,
					 memory_order_relaxed) &&
		    atomic_exchange(&directory->shown, false) && fs->session)
			fuse_lowlevel_notify_inval_inode(
				fs->session, node_id(&fs->nodes, directory), -1,
				0);
}

void fs_changed_in(struct fs *fs, struct node *directory)
{
	uint64_t now = fs_now();
	struct node *n;

	fs_changed(fs);
	for (n = directory; n; n = n->parent)
		node_know(&fs->nodes, n, now, 0);
	forget_attributes(fs, directory);
}

void fs_committed(struct fs *fs, struct node *cell, uint64_t timestamp_us,
		  uint64_t seq)
{
	if (node_committed(&fs->nodes, cell, timestamp_us, seq))
		fs_changed(fs);
	else
		fs_changed_outside(fs);
	forget_attributes(fs, cell->parent);
}
