#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/cells/notify.h"
#include "fs/cells/place.h"
#include "fs/cells/reply.h"
#include "fs/cells/space.h"
#include "fs/open/commit.h"
#include "fs/open/draft.h"
#include "fs/state/path.h"

/*
 * A draft is found by its node, and all of them by fs->drafts; both, and the
 * count of references, are under nodes.lock. A draft's own lock is taken after
 * that was left, by who has a reference.
 */

/* The kernel gets so many bytes of a cell before it asks for them: a page. */
#define GIVEN_MAX 4096

/* A draft of node, which has none, without a reference yet. It knows of the
 * newest version what the node does. NULL: no memory. With nodes.lock held. */
static struct draft *make_draft(struct fs *fs, struct node *node)
{
	struct draft *d = calloc(1, sizeof(*d));

	assert(node->kind == NODE_CELL && !node->draft);
	if (!d)
		return NULL;
	pthread_mutex_init(&d->lock, NULL);
	content_init(&d->content, fs->store);
	d->node = node;
	node->references++;
	node->draft = d;
	d->base_us = node->timestamp_us;
	d->next = fs->drafts;
	if (d->next)
		d->next->previous = d;
	fs->drafts = d;
	return d;
}

/* Of a draft that nobody finds any more; its node's reference is the caller's
 * to put. */
static void free_draft(struct fs *fs, struct draft *d)
{
	atomic_fetch_sub(&fs->uncommitted, d->counted);
	content_release(&d->content);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

struct draft *draft_get(struct fs *fs, struct node *node)
{
	struct draft *d;

	pthread_mutex_lock(&fs->nodes.lock);
	d = node->draft;
	if (d)
		d->references++;
	pthread_mutex_unlock(&fs->nodes.lock);
	return d;
}

void draft_put(struct fs *fs, struct draft *d)
{
	struct node *node = d->node;
	bool last;

	pthread_mutex_lock(&fs->nodes.lock);
	assert(d->references > 0 && node->draft == d);
	last = --d->references == 0;
	if (last) {
		node->draft = NULL;
		if (d->previous)
			d->previous->next = d->next;
		else
			fs->drafts = d->next;
		if (d->next)
			d->next->previous = d->previous;
	}
	pthread_mutex_unlock(&fs->nodes.lock);
	if (last) {
		free_draft(fs, d);
		node_put(&fs->nodes, node);
	}
}

/* The one that comes after d, which may be NULL, to be put, as d is: what is
 * referenced stays in the list, and its next one is found there. New ones come
 * to the front. */
static struct draft *next_draft(struct fs *fs, struct draft *d)
{
	struct draft *next;

	pthread_mutex_lock(&fs->nodes.lock);
	next = d ? d->next : fs->drafts;
	if (next)
		next->references++;
	pthread_mutex_unlock(&fs->nodes.lock);
	if (d)
		draft_put(fs, d);
	return next;
}

static bool is_in(struct bytes row, const struct purge_span *rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (bytes_compare(rows[i].start, row) <= 0 &&
		    (rows[i].end.size == 0 ||
		     bytes_compare(row, rows[i].end) < 0))
			return true;
	return false;
}

/* Without memory for its place it is taken for one of the rows; of a table that
 * was dropped nothing is committed anyway. */
static void forget(struct fs *fs, struct draft *d, struct bytes table,
		   const struct purge_span *rows, size_t count) NEEDS(fs->tree)
{
	struct place place;
	int err = place_find(fs, d->node, &place);

	if (err == -ENOMEM || (!err && bytes_equal(place.path.table, table) &&
			       is_in(place.path.row, rows, count))) {
		pthread_mutex_lock(&d->lock);
		if (d->stored_seq && !d->node->gone) {
			d->node->gone = true;
			node_detach(&fs->nodes, d->node);
		}
		pthread_mutex_unlock(&d->lock);
	}
	place_release(&place);
}

void drafts_forget(struct fs *fs, struct bytes table,
		   const struct purge_span *rows, size_t count)
{
	struct draft *d = NULL;

	while ((d = next_draft(fs, d)))
		forget(fs, d, table, rows, count);
}

void drafts_release(struct fs *fs)
{
	struct draft *d, *next;

	/* Their nodes go with nodes_release. */
	for (d = fs->drafts; d; d = next) {
		next = d->next;
		free_draft(fs, d);
	}
	fs->drafts = NULL;
}

int fs_commit_all(struct fs *fs, bool sync)
{
	struct draft *d = NULL;
	int err = 0, failed;

	while ((d = next_draft(fs, d))) {
		failed = draft_flush(fs, d, false);
		if (failed) {
			fs_log_error(fs, d->node, NULL, failed);
			err = err ? err : failed;
		}
	}
	if (sync) {
		failed = store_sync(fs->store);
		err = err ? err : failed;
	}
	return err;
}

/*
 * What was loaded is not what the node knew, and the kernel from it, if the
 * name got another value between lookup and open, perhaps by a rename over it,
 * after which the node is gone. Then the kernel has to ask for its size again,
 * and to read its pages; none of them waits for us, as nobody has it open.
 */
static void note_loaded(struct fs *fs, struct node *node,
			const struct cell *cell)
{
	if (node_seq(&fs->nodes, node) == cell->seq &&
	    node->size == cell_size(cell))
		return;
	node_know(&fs->nodes, node, cell->timestamp_us, cell->seq);
	node->size = cell_size(cell);
	node->given = false;
	if (fs->session)
		fuse_lowlevel_notify_inval_inode(
			fs->session, node_id(&fs->nodes, node), 0, 0);
}

/*
 * As load, of what was renamed over since it was found: the version that it was
 * lies beneath the newest, and is what it shows. With the newest a reader would
 * see what comes next by a file found before, and what was before by one found
 * later. 1, 0 if that version is not there any more, or an error.
 */
static int load_former(struct fs *fs, struct draft *d, const struct path *p)
	NEEDS_SHARED(fs->tree)
{
	struct cell_bytes former = { .text = BUF_INIT };
	struct cell_info info;
	int full = 0;
	int err = cell_version_at(fs, p, d->node->timestamp_us, &info, &former);

	if (err == 1 && info.seq != node_seq(&fs->nodes, d->node))
		err = 0;
	if (err == 1) {
		full = content_load(&d->content, buf_bytes(&former.text),
				    info.size, &former.text, former.large);
		former.large = NULL;
		d->base_us = info.timestamp_us;
		d->stored_seq = info.seq;
		d->loaded = !full;
	}
	cell_bytes_release(&former);
	return full ? full : err;
}

/* Fills the content from the newest version at place, unless it is filled. 0, 1
 * if the cell is of an aggregate family, -ENOENT if there is none, or an error.
 * With the draft's lock held. */
static int load(struct fs *fs, struct draft *d, const struct place *place)
	NEEDS_SHARED(fs->tree)
{
	const struct path *p = &place->path;
	struct buf memory = BUF_INIT;
	struct large *large;
	struct cell cell;
	int err;

	if (d->loaded)
		return 0;
	if (d->node->gone && !place->rules.aggregate) {
		err = load_former(fs, d, p);
		if (err)
			return err < 0 ? err : 0;
	}
	err = store_get_large(fs->store, NULL, p->table, p->row, p->family,
			      p->qualifier, &cell, &memory, &large);
	if (err <= 0 || cell.aggregate)
		buf_release(&memory);
	/* Of what was removed between its lookup and now, as a lock file often
	 * is, all content is known if there was none. */
	if (err == 0 && d->node->gone && d->node->size == 0) {
		content_empty(&d->content);
		d->loaded = true;
		return 0;
	}
	if (err <= 0 || cell.aggregate)
		return err == 0 ? -ENOENT : err;
	note_loaded(fs, d->node, &cell);
	err = content_load(&d->content, cell.value, cell_size(&cell), &memory,
			   large);
	d->base_us = cell.timestamp_us;
	d->stored_seq = cell.seq;
	d->loaded = !err;
	return err;
}

/* The content has changed: notes that, and the time, which is now, but newer
 * than that of the version it replaces, as the commit would make it anyway and
 * stat is to show the same before and after. With the draft's lock held. */
static void touch(struct fs *fs, struct draft *d)
{
	uint64_t now = fs_now(fs);

	assert(d->loaded);
	if (d->millis)
		now = now / 1000 * 1000;
	if (now <= d->base_us)
		now = cell_time_after(d->base_us, d->millis);

	d->modified_us = now;
	d->has_pending = false;
	d->dirty = true;
	d->node->given = false;
}

/* What draft_open does to a draft, new or not, at its node's place, which has a
 * table; its results. The rules are gone by each time it is opened for writing:
 * the table's may have changed. With the draft's lock held. */
static int start(struct fs *fs, struct draft *d, const struct place *place,
		 enum draft_mode mode) NEEDS_SHARED(fs->tree)
{
	int err;

	if (mode == DRAFT_READ) {
		err = load(fs, d, place);
		/* A counter that was made is there before its first number. */
		return err == -ENOENT && place->rules.aggregate &&
				       d->node->local
			       ? 1
			       : err;
	}
	if (place->rules.aggregate)
		return 1;
	d->millis = place->rules.millis;
	if (mode == DRAFT_WRITE) {
		err = load(fs, d, place);
		if (err)
			return err;
	} else {
		content_empty(&d->content);
		d->stored_seq = 0;
		d->loaded = true;
		touch(fs, d);
	}
	/* The first writer begins a session. */
	if (d->writers++ == 0)
		d->has_written = false;
	return 0;
}

/* Takes the draft's lock: who comes second waits until the content is loaded.
 */
static int start_at_place(struct fs *fs, struct draft *d, enum draft_mode mode)
{
	struct place place;
	int err = place_enter(fs, d->node, &place);

	pthread_mutex_lock(&d->lock);
	/* Who has read it goes on with it when its table was dropped. */
	if (d->loaded && mode == DRAFT_READ && place_is_dropped(err))
		err = 0;
	if (!err)
		err = start(fs, d, &place, mode);
	pthread_mutex_unlock(&d->lock);
	place_leave(fs, &place);
	return err;
}

int draft_open(struct fs *fs, struct node *node, enum draft_mode mode,
	       struct draft **out)
{
	struct draft *d;
	int err;

	if (mode == DRAFT_WRITE && node->size >= store_large_size(fs->store))
		fs_await_space(fs, node->size);
	/* Found and made under one lock, so that there is one a node. */
	pthread_mutex_lock(&fs->nodes.lock);
	d = node->draft ? node->draft : make_draft(fs, node);
	if (d)
		d->references++;
	pthread_mutex_unlock(&fs->nodes.lock);
	if (!d)
		return -ENOMEM;
	err = mode == DRAFT_STAMP ? 0 : start_at_place(fs, d, mode);
	if (err)
		draft_put(fs, d);
	else
		*out = d;
	return err;
}

void draft_close(struct fs *fs, struct draft *d, enum draft_mode mode)
{
	int err = 0;

	if (mode != DRAFT_READ && mode != DRAFT_STAMP) {
		tree_hold(fs);
		pthread_mutex_lock(&d->lock);
		assert(d->writers > 0);
		if (--d->writers == 0) {
			err = draft_commit_locked(fs, d, false);
			d->has_written = false;
			d->mode = 0;
		}
		pthread_mutex_unlock(&d->lock);
		tree_let_go(fs);
	}
	if (err) {
		fs_log_error(fs, d->node, NULL, err);
		/* A file that could not be made is gone. */
		if (d->node->local) {
			node_detach(&fs->nodes, d->node);
			fs_changed_outside(fs);
		}
	}
	draft_put(fs, d);
}

/*
 * The kernel puts the bytes in the file's pages, for which it may have to wait:
 * for who reads or writes the file, and waits for us with a page locked. And
 * bytes that come after those of a write would bury it. So nobody else may have
 * it open: who is about to waits for the draft's lock before it is answered.
 */
void draft_give(struct fs *fs, struct draft *d)
{
	struct fuse_bufvec bytes = FUSE_BUFVEC_INIT(0);
	struct bytes all;
	bool is_alone;

	if (d->node->given || !fs->session)
		return;
	pthread_mutex_lock(&d->lock);
	pthread_mutex_lock(&fs->nodes.lock);
	is_alone = d->references == 1;
	pthread_mutex_unlock(&fs->nodes.lock);
	if (is_alone && d->content.size > 0 && d->content.size <= GIVEN_MAX &&
	    content_in_memory(&d->content, &all)) {
		assert(d->loaded && d->writers == 0);
		bytes.buf[0].size = (size_t)d->content.size;
		bytes.buf[0].mem = (void *)(uintptr_t)all.data;
		/* If it fails, they are asked for. */
		fuse_lowlevel_notify_store(fs->session,
					   node_id(&fs->nodes, d->node), 0,
					   &bytes, 0);
		d->node->given = true;
	}
	pthread_mutex_unlock(&d->lock);
}

/* Whether it may be told is asked without the draft's lock, for which others
 * wait: of what is in memory, which was read before, at first; what is not is
 * read into a copy, and asked about when it is told. */
void draft_reply(struct fs *fs, struct draft *d, fuse_req_t req,
		 uint64_t offset, size_t size)
{
	const struct content *c = &d->content;
	int err = fs_answerable(fs);
	char *copy = NULL;
	struct bytes all;

	/* With the reply the handle may be closed by another thread. */
	pthread_mutex_lock(&fs->nodes.lock);
	d->references++;
	pthread_mutex_unlock(&fs->nodes.lock);
	/* Held until the bytes were copied, which the reply does, too. */
	pthread_mutex_lock(&d->lock);
	assert(d->loaded);
	d->node->given = true;
	if (offset > c->size)
		offset = c->size;
	if (size > c->size - offset)
		size = (size_t)(c->size - offset);
	if (!err && size == 0) {
		fuse_reply_buf(req, NULL, 0);
	} else if (!err && content_in_memory(c, &all)) {
		fuse_reply_buf(req, (const char *)all.data + offset, size);
	} else if (!err) {
		copy = malloc(size);
		err = copy ? content_read(&d->content, offset, copy, size)
			   : -ENOMEM;
	}
	pthread_mutex_unlock(&d->lock);
	if (err)
		fs_reply_error(fs, req, d->node, NULL, err);
	else if (copy)
		fs_reply_buf(req, copy, size);
	free(copy);
	draft_put(fs, d);
}

/* Bigtable's limit of a value. */
static int check_size(uint64_t size)
{
	if (size > STORE_VALUE_MAX)
		return fail(ERR_value_too_large, "%llu bytes, at most %u",
			    (unsigned long long)size, STORE_VALUE_MAX);
	return 0;
}

/* Whether the quota lets d have so many bytes, or what it has if that is more,
 * as a new version. */
static int check_quota(struct fs *fs, const struct draft *d, uint64_t size)
{
	if (size < d->content.size)
		size = d->content.size;
	return fs_check_space(fs, size > d->counted ? size - d->counted : 0);
}

/* Waits for what the quota has no room for, as check_quota reckons it; with no
 * lock, so that it may be another need by then. */
static void await_quota(struct fs *fs, struct draft *d, size_t size,
			uint64_t offset, bool append)
{
	uint64_t all, more;

	if (fs->options->quota_size == 0)
		return;
	pthread_mutex_lock(&d->lock);
	all = (append ? d->content.size : offset) + size;
	if (all < d->content.size)
		all = d->content.size;
	more = all > d->counted ? all - d->counted : 0;
	pthread_mutex_unlock(&d->lock);
	fs_await_space(fs, more);
}

int draft_write(struct fs *fs, struct draft *d, struct bytes data,
		uint64_t offset, bool append)
{
	uint64_t end;
	int err;

	await_quota(fs, d, data.size, offset, append);
	pthread_mutex_lock(&d->lock);
	assert(d->loaded);
	if (append)
		offset = d->content.size;
	end = offset + data.size;
	err = end < offset ? -EFBIG : check_size(end);
	if (!err)
		err = check_quota(fs, d, end);
	if (!err)
		err = content_write(&d->content, data, offset);
	if (!err)
		touch(fs, d);
	draft_count(fs, d);
	pthread_mutex_unlock(&d->lock);
	return err;
}

int draft_truncate(struct fs *fs, struct draft *d, uint64_t size)
{
	int err = check_size(size);

	if (err)
		return err;
	pthread_mutex_lock(&d->lock);
	assert(d->loaded);
	err = content_resize(&d->content, size);
	if (!err)
		touch(fs, d);
	draft_count(fs, d);
	pthread_mutex_unlock(&d->lock);
	return err;
}
