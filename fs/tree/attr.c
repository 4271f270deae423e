#include <assert.h>
#include <errno.h>

#include "fs/cells/pin.h"
#include "fs/cells/reply.h"
#include "fs/open/commit.h"
#include "fs/open/draft.h"
#include "fs/state/ino.h"
#include "fs/tree/access.h"
#include "fs/tree/attr.h"

/*
 * What a cell shows comes from its draft while it is open, else from its newest
 * version; what a directory shows, from its node, which knows of its newest
 * change. Owner and mode are the table's, for all that is in it (access.h).
 *
 * A timeout is the kernel's licence not to ask. It may be long only where every
 * change ends it: by the kernel itself, by a notification (notify.h), or
 * because the name gets another node (compare_info in lookup.c).
 */

/* A directory whose table has an age rule: which cell in it is the last to go
 * is known only after a scan. */
#define EXPIRING_TIMEOUT_S 1.0
/* Of a directory's attributes where fs_committed does not end them. */
#define SHORT_TIMEOUT_S 1.0

/* What all have: one link, as a directory's others are not counted; one time,
 * as a version has no more. */
static void attr_common(struct fs *fs, uint64_t ino, mode_t mode,
			uint64_t timestamp_us, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_mode = mode;
	st->st_nlink = 1;
	st->st_uid = fs->uid;
	st->st_gid = fs->gid;
	st->st_blksize = 4096; /* what programs read and write at once */
	st->st_mtim.tv_sec = (time_t)(timestamp_us / 1000000);
	st->st_mtim.tv_nsec = (long)(timestamp_us % 1000000) * 1000;
	st->st_atim = st->st_mtim;
	st->st_ctim = st->st_mtim;
}

void attr_directory(struct fs *fs, uint64_t ino, uint64_t timestamp_us,
		    struct stat *st)
{
	attr_common(fs, ino, S_IFDIR | ACCESS_DIRECTORY_MODE, timestamp_us, st);
}

void attr_cell(struct fs *fs, uint64_t ino, const struct cell_info *info,
	       struct stat *st)
{
	attr_common(fs, ino, S_IFREG | ACCESS_CELL_MODE, info->timestamp_us,
		    st);
	st->st_size = (off_t)info->size;
	st->st_blocks = (blkcnt_t)((info->size + 511) / 512); /* stat's unit */
}

double attr_longest(struct fs *fs)
{
	return fs->has_epochs ? ATTR_TIMEOUT_S : fs->options->stale_seconds;
}

double attr_timeout(struct fs *fs, const struct cell_rules *rules)
{
	double longest = attr_longest(fs);

	return rules->expires && longest > EXPIRING_TIMEOUT_S
		       ? EXPIRING_TIMEOUT_S
		       : longest;
}

/* At most timeout, and not beyond expiry, by when the kernel's own clock has to
 * have ended what it keeps. */
static double until(const struct fs *fs, uint64_t expiry_us, double timeout)
{
	uint64_t now = fs_now(fs) + REPLY_TICKS_MS * 1000;
	double left = expiry_us > now ? (double)(expiry_us - now) / 1e6 : 0;

	return left < timeout ? left : timeout;
}

/* How long a cell may be believed whose newest version has this timestamp. */
static double cell_timeout(struct fs *fs, const struct place *place,
			   uint64_t timestamp_us)
{
	double timeout = attr_longest(fs);

	/* Without an age rule in the table the schema need not be asked. */
	if (!place->rules.expires)
		return timeout;
	return until(fs, place_expiry(place, place->path.family, timestamp_us),
		     timeout);
}

double attr_keep(struct fs *fs, struct node *node, double timeout)
{
	assert(timeout >= 0);
	/* A cell's change is seen by the kernel or gives the name a new node.
	 */
	if (node->kind == NODE_CELL)
		return timeout;
	/* Such a mount lets the kernel check permissions, for which it would
	 * ask again for each directory that was made to forget. */
	if (fs->options->allow_other)
		return timeout < SHORT_TIMEOUT_S ? timeout : SHORT_TIMEOUT_S;
	/* Of control, nothing that changes is kept. */
	if (!node_is_data(node) && !at_is_moment(node))
		return timeout;
	node->shown = node_is_data(node);
	return timeout;
}

/* From the node's draft, which may be ahead of the store: false if it has none,
 * or one without content. Takes the draft's lock. */
static bool attr_of_draft(struct fs *fs, struct node *node,
			  const struct place *place, uint64_t ino,
			  struct stat *st, double *timeout)
{
	struct draft *draft = draft_get(fs, node);
	struct cell_info info;
	uint64_t maker;
	bool loaded;
	mode_t mode;

	if (!draft)
		return false;
	pthread_mutex_lock(&draft->lock);
	loaded = draft->loaded;
	mode = draft->mode;
	maker = node->gone ? draft->maker
			   : access_maker_at(fs, place, NODE_CELL);
	info.size = draft->content.size;
	info.timestamp_us = draft_time(draft);
	pthread_mutex_unlock(&draft->lock);
	draft_put(fs, draft);
	if (!loaded)
		return false;
	attr_cell(fs, ino, &info, st);
	access_show_made(fs, place, maker, st);
	*timeout = attr_longest(fs);
	/* Unlinked or renamed over, but open: nobody else will tell of it. */
	if (node->gone)
		st->st_nlink = 0;
	/* The mode of its creation lasts until it is closed. */
	if (mode && mode != st->st_mode)
		*timeout = 0;
	if (mode)
		st->st_mode = mode;
	if (node->gone)
		*timeout = 0;
	return true;
}

/* Of a cell: from its draft, else from info, else from the store; one that is
 * only local is empty. 0, -ENOENT or an error. */
static int attr_of_cell(struct fs *fs, struct node *node,
			const struct place *place, const struct cell_info *info,
			struct stat *st, double *timeout) NEEDS_SHARED(fs->tree)
{
	uint64_t hash = path_ino(&place->path, NODE_CELL);
	uint64_t ino = ino_of_cell(&fs->nodes, node, hash);
	struct cell_info newest;
	int n = 0;

	if (attr_of_draft(fs, node, place, ino, st, timeout)) {
		/* Until a close, of this file or of another. */
		if (ino != hash)
			*timeout = 0;
		return 0;
	}
	if (!info) {
		info = &newest;
		n = cell_stat(fs, &place->path, node->size, &newest);
		if (n == 0 && node->local) {
			newest = (struct cell_info){ .timestamp_us =
							     fs_now(fs) };
			n = 1;
		}
		n = n == 0 ? -ENOENT : n;
	}
	if (n < 0)
		return n;
	assert(info);
	attr_cell(fs, ino, info, st);
	access_show(fs, place, NODE_CELL, st);
	*timeout = cell_timeout(fs, place, info->timestamp_us);
	/* Others add without telling what became of it; and another number
	 * ends with a close. */
	if (place->rules.aggregate || ino != hash)
		*timeout = 0;
	return 0;
}

int attr_at(struct fs *fs, struct node *node, const struct place *place,
	    const struct cell_info *info, struct stat *st, double *timeout)
{
	uint64_t ino;

	assert(node_is_data(node) && node->kind != NODE_ROOT);
	if (node->kind == NODE_CELL)
		return attr_of_cell(fs, node, place, info, st, timeout);
	ino = path_ino(&place->path, node->kind);
	attr_directory(fs, ino, node->timestamp_us, st);
	access_show(fs, place, node->kind, st);
	*timeout = attr_timeout(fs, &place->rules);
	if (info && info->expiry_us)
		*timeout = until(fs, info->expiry_us, *timeout);
	return 0;
}

int attr_node(struct fs *fs, struct node *node, struct stat *st,
	      double *timeout)
{
	static const struct cell_rules none;
	struct place place;
	int err;

	assert(node_is_data(node));
	*timeout = 0;
	if (node->kind == NODE_ROOT) {
		attr_directory(fs, ROOT_INO, node->timestamp_us, st);
		access_apply(&fs->options->access, st);
		*timeout = attr_timeout(fs, &none);
		return 0;
	}
	err = place_find(fs, node, &place);
	if (!err)
		err = attr_at(fs, node, &place, NULL, st, timeout);
	/* The table was dropped, but who has the file open has its content. */
	else if (place_is_dropped(err) && node->kind == NODE_CELL &&
		 attr_of_draft(fs, node, &place,
			       ino_of_cell(&fs->nodes, node,
					   path_ino(&place.path, NODE_CELL)),
			       st, timeout))
		err = 0;
	place_release(&place);
	return err;
}
