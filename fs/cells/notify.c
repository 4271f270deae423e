#include <assert.h>
#include <errno.h>
#include <linux/fuse.h>
#include <unistd.h>

#include "fs/cells/notify.h"

/* In the kernel since 6.16, not yet in the headers here. */
#define NOTIFY_INC_EPOCH 8

/* How many are looked for while others wait for the lock. */
#define IDS_AT_ONCE 256

static_assert(sizeof(struct fuse_out_header) == 16, "as the kernel has it");

bool list_keep(struct fs *fs, struct node *directory, uint64_t outside)
{
	bool may;

	assert(node_is_data(directory) && directory->kind != NODE_CELL);
	pthread_mutex_lock(&fs->nodes.lock);
	/* A change counts first and then looks here, so it finds this one. */
	may = fs->outside == outside;
	if (may && !directory->listed.place) {
		directory->listed.next = fs->listed;
		directory->listed.place = &fs->listed;
		if (fs->listed)
			fs->listed->listed.place = &directory->listed.next;
		fs->listed = directory;
	}
	pthread_mutex_unlock(&fs->nodes.lock);
	return may;
}

void list_drop(struct fs *fs, struct node *directory)
{
	if (fs->session)
		fuse_lowlevel_notify_inval_inode(
			fs->session, node_id(&fs->nodes, directory), 0, 0);
}

/*
 * A list is kept with its directory's pages, which no epoch ends, and who has
 * the directory open, or is in it, reads it without a lookup. Dropping those
 * waits for no request: a list's pages are locked only while a reply is copied
 * into them, never while one is awaited. Each list dropped was read by a
 * request before.
 */
static void drop_lists(struct fs *fs)
{
	struct node *old;
	uint64_t id;

	/* Who comes second returns when all that was kept before is dropped. */
	pthread_mutex_lock(&fs->dropping);
	pthread_mutex_lock(&fs->nodes.lock);
	/* Those that are kept from now on have seen the change. */
	old = fs->listed;
	fs->listed = NULL;
	if (old)
		old->listed.place = &old;
	while (old) {
		id = node_id(&fs->nodes, old);
		node_unlist(old);
		pthread_mutex_unlock(&fs->nodes.lock);
		/* The node may have gone: then nobody has the id, or another,
		 * whose list is read again. */
		fuse_lowlevel_notify_inval_inode(fs->session, id, 0, 0);
		pthread_mutex_lock(&fs->nodes.lock);
	}
	pthread_mutex_unlock(&fs->nodes.lock);
	pthread_mutex_unlock(&fs->dropping);
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

/* Ids of nodes that the kernel has, in *bucket behind the first *passed or in
 * later ones, which both then tell: how many, 0 if there are none left. Where a
 * node is goes up only, as there are more buckets. */
static size_t take_ids(struct nodes *nodes, size_t *bucket, size_t *passed,
		       uint64_t *ids)
{
	size_t count = 0, i;
	struct node *node;

	pthread_mutex_lock(&nodes->lock);
	for (; *bucket < nodes->bucket_count; ++*bucket, *passed = 0) {
		node = nodes->buckets[*bucket];
		for (i = 0; node && count < IDS_AT_ONCE; i++) {
			if (i >= *passed && node->lookups > 0)
				ids[count++] = node_id(nodes, node);
			node = node->next;
		}
		if (node) {
			*passed = i;
			break;
		}
	}
	pthread_mutex_unlock(&nodes->lock);
	return count;
}

/*
 * An epoch ends names, but who is in a directory, or has a file, names it no
 * more, and is let in by the attributes that the kernel keeps. Those of all
 * nodes are dropped, in whatever table: they are asked for again anyway.
 */
void fs_access_changed(struct fs *fs)
{
	size_t bucket = 0, passed = 0, count;
	uint64_t ids[IDS_AT_ONCE];

	fs_changed_outside(fs);
	while (fs->session &&
	       (count = take_ids(&fs->nodes, &bucket, &passed, ids)) > 0)
		while (count-- > 0)
			fuse_lowlevel_notify_inval_inode(fs->session,
							 ids[count], -1, 0);
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
	uint64_t now = fs_now(fs);
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
