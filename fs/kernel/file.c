#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/cells/reply.h"
#include "fs/cells/space.h"
#include "fs/control/ctl_recipe.h"
#include "fs/kernel/entry.h"
#include "fs/kernel/file.h"
#include "fs/open/commit.h"
#include "fs/open/draft.h"
#include "fs/state/ino.h"
#include "fs/tree/lookup.h"
#include "fs/tree/tree.h"

/*
 * How the kernel is to treat an open file. Of a cell it keeps the pages from
 * one open to the next: what changes a cell behind its back gives the name a
 * new node, so pages of a node stay true. Control files have no size and are
 * made as they are read, so nothing of them is cached (direct_io); versions,
 * cells of the past and exports are files like others, whose size is known.
 */

/* What fi->fh points to, from open to release: a draft or a control file. */
struct handle {
	struct handle *next; /* of all; guarded by handles.lock */
	struct handle *previous;
	struct node *cell; /* whose inode number it holds; NULL: none */
	struct draft *draft;
	enum draft_mode mode; /* that draft was opened with */
	struct ctl_file *ctl;
};

static_assert(sizeof(uintptr_t) <= sizeof(uint64_t), "fh holds a pointer");

/* The handle of an open file. */
static struct handle *handle_of(const struct fuse_file_info *fi)
{
	struct handle *h = (struct handle *)(uintptr_t)fi->fh;

	assert(h && !h->draft != !h->ctl);
	return h;
}

/* Begins a request: counts it, and whatever went wrong before is not about it.
 * From here on this thread can be told that its client has given up. */
static struct fs *enter(fuse_req_t req)
{
	struct fs *fs = fs_of(req);

	err_clear();
	loop_begin(req);
	atomic_fetch_add_explicit(&fs->requests, 1, memory_order_relaxed);
	fs_catch_up(fs);
	return fs;
}

/* One that is empty, in the list of all; NULL without memory. */
static struct handle *new_handle(struct fs *fs, enum draft_mode mode)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->mode = mode;
	pthread_mutex_lock(&fs->handles.lock);
	h->next = fs->handles.first;
	if (h->next)
		h->next->previous = h;
	fs->handles.first = h;
	pthread_mutex_unlock(&fs->handles.lock);
	return h;
}

static void free_handle(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->handles.lock);
	if (h->previous)
		h->previous->next = h->next;
	else
		fs->handles.first = h->next;
	if (h->next)
		h->next->previous = h->previous;
	pthread_mutex_unlock(&fs->handles.lock);
	free(h);
}

/* Ends h, which may have neither draft nor control file yet. A draft commits
 * what is uncommitted; nobody hears of an error but .tabletfs/errors. */
static void close_handle(struct fs *fs, struct handle *h)
{
	if (h->draft)
		draft_close(fs, h->draft, h->mode);
	if (h->ctl)
		ctl_close(fs, h->ctl);
	if (h->cell && ino_let_go(&fs->nodes, h->cell))
		fs_changed_outside(fs);
	free_handle(fs, h);
}

void files_release(struct fs *fs)
{
	struct handle *h, *next;

	for (h = fs->handles.first; h; h = next) {
		next = h->next;
		free(h);
	}
	fs->handles.first = NULL;
}

/* From the open on, as long as h is open, the cell keeps its inode number. 0 or
 * -ENOMEM. */
static int hold_number(struct fs *fs, struct handle *h, struct node *cell)
{
	int err = ino_hold(&fs->nodes, cell);

	if (!err)
		h->cell = cell;
	return err;
}

/* By the flags of open(2). */
static enum draft_mode mode_of(int flags)
{
	if (flags & O_TRUNC)
		return DRAFT_TRUNCATE;
	return (flags & O_ACCMODE) == O_RDONLY ? DRAFT_READ : DRAFT_WRITE;
}

/* Opens a cell or control file with fi->flags: sets fi->fh and how the kernel
 * is to treat it. */
static int open_node(struct fs *fs, struct node *node,
		     struct fuse_file_info *fi)
{
	struct handle *h = new_handle(fs, mode_of(fi->flags));
	int err = 0;

	if (!h)
		return -ENOMEM;
	/* 1 means a cell of an aggregate family, which is a control file. */
	if (node->kind == NODE_CELL)
		err = hold_number(fs, h, node);
	if (node->kind == NODE_CELL && !err)
		err = draft_open(fs, node, h->mode, &h->draft);
	if (node->kind == NODE_CELL && err <= 0) {
		if (!err && h->mode == DRAFT_TRUNCATE)
			fs_changed(fs);
		/* A change that the kernel does not see makes a new node, so
		 * the pages of this one stay true. */
		fi->keep_cache = 1;
		/* A close has nothing to commit, so it need not wait. */
		fi->noflush = h->mode == DRAFT_READ;
		if (!err && h->mode == DRAFT_READ)
			draft_give(fs, h->draft);
	} else {
		err = ctl_open(fs, node, fi->flags, &h->ctl);
		fi->direct_io = node->kind != NODE_VERSION &&
				node->kind != NODE_AT_CELL &&
				node->kind != NODE_AT_VERSION &&
				node->kind != NODE_SCAN_EXPORT;
		/* Another text is another node. */
		fi->keep_cache = node->kind == NODE_SCAN_EXPORT;
		/* A read takes what was told since the last one, so nobody may
		 * read ahead and go back, as shells do. */
		fi->nonseekable = node->kind == NODE_MUTATE &&
				  (fi->flags & O_ACCMODE) == O_RDWR;
	}
	if (err)
		close_handle(fs, h);
	else
		fi->fh = (uint64_t)(uintptr_t)h;
	/* Removed since it was looked up. The kernel then looks again, and
	 * makes the file if it was opened with O_CREAT. */
	return node->kind == NODE_CELL && err == -ENOENT ? -ESTALE : err;
}

void file_on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);
	struct node *node = node_of(&fs->nodes, ino);
	int err = open_node(fs, node, fi);

	if (err)
		fs_reply_error(fs, req, node, NULL, err);
	else if (fs_reply_open(req, fi) < 0) /* it will not be released */
		close_handle(fs, handle_of(fi));
}

/* Fills *e for a node that was made. The caller's reference ends. */
static int reply_created(struct fs *fs, struct node *node,
			 struct fuse_entry_param *e)
{
	int err;

	if (node->kind == NODE_RECIPE) {
		memset(e, 0, sizeof(*e));
		err = ctl_attr(fs, node, &e->attr, &e->attr_timeout);
		return lookup_remember(fs, node, err, e);
	}
	tree_hold(fs);
	err = lookup_reply(fs, node, e);
	tree_let_go(fs);
	return err;
}

/* tree_create, also of a recipe, which has no draft. */
static int make_file(struct fs *fs, struct node *directory, struct bytes name,
		     const struct maker *maker, struct node **node,
		     struct draft **draft)
{
	return directory->kind == NODE_RECIPES
		       ? recipe_create(fs, directory, name, node)
		       : tree_create(fs, directory, name, maker, node, draft);
}

/* Makes name and opens it: fills *e, remembered for the kernel, and fi. -EEXIST
 * if there is such a name already. */
static int create(struct fs *fs, struct node *directory, const char *name,
		  const struct maker *maker, struct fuse_file_info *fi,
		  struct fuse_entry_param *e)
{
	struct handle *h = new_handle(fs, DRAFT_CREATE);
	struct node *node;
	int err;

	if (!h)
		return -ENOMEM;
	err = make_file(fs, directory, bytes_string(name), maker, &node,
			&h->draft);
	if (err) {
		free_handle(fs, h);
		return err;
	}
	/* Before the kernel is told of it. */
	err = node->kind == NODE_CELL ? hold_number(fs, h, node) : 0;
	/* In an aggregate family there are no drafts. */
	if (!err && !h->draft)
		err = ctl_open(fs, node, fi->flags, &h->ctl);
	fi->direct_io = !h->draft;
	/* The reference of node passes to the kernel, or ends here. */
	if (err)
		node_put(&fs->nodes, node);
	else
		err = reply_created(fs, node, e);
	if (err) {
		close_handle(fs, h);
		return err;
	}
	fi->keep_cache = node->kind == NODE_CELL;
	fi->fh = (uint64_t)(uintptr_t)h;
	return 0;
}

/* A new file or, if the kernel did not know that there is one of that name and
 * the flags allow it, the one that is there. */
static int create_or_open(struct fs *fs, struct node *directory,
			  const char *name, const struct maker *maker,
			  struct fuse_file_info *fi, struct fuse_entry_param *e)
{
	struct node *node;
	int err = create(fs, directory, name, maker, fi, e);

	if (err != -EEXIST || fi->flags & O_EXCL)
		return err;
	err = entry_lookup(fs, directory, bytes_string(name), e);
	if (err != 1)
		return err ? err : -ENOENT;
	node = node_of(&fs->nodes, e->ino);
	err = open_node(fs, node, fi);
	/* Not made, but found. */
	if (!err) {
		err = fs_answerable(fs);
		if (err)
			close_handle(fs, handle_of(fi));
	}
	/* The kernel will not hear of the lookup. */
	if (err)
		node_forget(&fs->nodes, node, 1);
	return err;
}

void file_on_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		    mode_t mode, struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);
	struct node *directory = node_of(&fs->nodes, parent);
	struct maker maker = { fuse_req_ctx(req)->uid, mode };
	struct fuse_entry_param e;
	int err = create_or_open(fs, directory, name, &maker, fi, &e);

	if (!err)
		fs_cut_timeouts(fs, &e);
	if (err) {
		fs_reply_error(fs, req, directory, name, err);
	} else if (fuse_reply_create(req, &e, fi) < 0) {
		close_handle(fs, handle_of(fi));
		node_forget(&fs->nodes, node_of(&fs->nodes, e.ino), 1);
	}
}

/* Answers a read of a control file. That may be a scan, so the lead goes first,
 * and then the lock is waited for. */
static void read_ctl(struct fs *fs, fuse_req_t req, struct ctl_file *f,
		     uint64_t offset, size_t size)
{
	struct buf out = BUF_INIT;
	int err = -EBADF; /* open has refused it already */

	loop_hand_over();
	if (f->ops->read)
		err = loop_begin_read();
	if (!err) {
		pthread_mutex_lock(&f->lock);
		err = f->ops->read(fs, f, offset, size, &out);
		pthread_mutex_unlock(&f->lock);
		loop_end_read();
	}
	if (err)
		fs_reply_error(fs, req, f->node, NULL, err);
	else
		fs_reply_buf(req, (char *)out.data, out.size);
	buf_release(&out);
}

void file_on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		  struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);
	struct handle *h = handle_of(fi);

	(void)ino;
	if (h->draft)
		draft_reply(fs, h->draft, req, (uint64_t)offset, size);
	else
		read_ctl(fs, req, h->ctl, (uint64_t)offset, size);
}

static bool commits_wait(const struct fs *fs)
{
	return store_commit_waits(fs->store, fs->options->sync);
}

/* Whether f may take long for so many bytes: others are to be served meanwhile.
 * Where a commit waits for nothing, one of a few bytes does not. */
static bool takes_long(const struct fs *fs, const struct ctl_file *f,
		       size_t size)
{
	return commits_wait(fs) || f->ops->brief_size == 0 ||
	       size > f->ops->brief_size;
}

void file_on_write(fuse_req_t req, fuse_ino_t ino, const char *data,
		   size_t size, off_t offset, struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);
	struct handle *h = handle_of(fi);
	struct ctl_file *f = h->ctl;
	struct bytes bytes = bytes_of(data, size);
	/* A page of a mapping has its place, also in a file that is opened to
	 * append. */
	bool append = fi->flags & O_APPEND && !fi->writepage;
	ssize_t taken = -EBADF;

	if (f && f->ops->write) {
		if (takes_long(fs, f, size))
			loop_hand_over();
		taken = ctl_write(fs, f, fi->lock_owner, bytes,
				  (uint64_t)offset);
	} else if (h->draft) {
		taken = draft_write(fs, h->draft, bytes, (uint64_t)offset,
				    append);
		taken = taken ? taken : (ssize_t)size;
		fs_changed(fs);
	}
	/* Fewer than size is a short write, which the writer is told of. */
	if (taken < 0)
		fs_reply_error(fs, req, node_of(&fs->nodes, ino), NULL,
			       (int)taken);
	else
		fuse_reply_write(req, (size_t)taken);
}

int file_truncate(struct fs *fs, struct fuse_file_info *fi, uint64_t size)
{
	struct handle *h = handle_of(fi);

	/* The draft commits it with the next flush. */
	if (h->draft)
		return draft_truncate(fs, h->draft, size);
	loop_hand_over();
	ctl_truncate(h->ctl, size);
	return 0;
}

/* fsync of f. */
static int sync_ctl(struct fs *fs, struct ctl_file *f)
{
	int err = 0;

	pthread_mutex_lock(&f->lock);
	if (f->ops->sync)
		err = f->ops->sync(fs, f);
	pthread_mutex_unlock(&f->lock);
	return err;
}

void file_on_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);
	struct handle *h = handle_of(fi);
	int err = 0;

	if (h->ctl ? takes_long(fs, h->ctl, 0) : commits_wait(fs))
		loop_hand_over();
	if (h->ctl)
		err = ctl_flush(fs, h->ctl, fi->lock_owner);
	else if (h->mode != DRAFT_READ) /* who only reads commits nothing */
		err = draft_flush(fs, h->draft, false);
	fs_reply_error(fs, req, node_of(&fs->nodes, ino), NULL, err);
}

void file_on_fsync(fuse_req_t req, fuse_ino_t ino, int datasync,
		   struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);
	struct handle *h = handle_of(fi);
	int err;

	(void)datasync;
	loop_hand_over();
	if (h->ctl)
		err = sync_ctl(fs, h->ctl);
	else
		err = draft_flush(fs, h->draft, true);
	fs_reply_error(fs, req, node_of(&fs->nodes, ino), NULL, err);
}

void file_on_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);

	(void)ino;
	close_handle(fs, handle_of(fi));
	fuse_reply_err(req, 0);
}
