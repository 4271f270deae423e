#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "fs/cells/loop.h"
#include "fs/cells/notify.h"
#include "fs/cells/prune.h"
#include "fs/cells/reply.h"
#include "fs/cells/space.h"
#include "fs/control/ctl_recipe.h"
#include "fs/kernel/dir.h"
#include "fs/kernel/dirs.h"
#include "fs/kernel/entry.h"
#include "fs/kernel/file.h"
#include "fs/kernel/xattr.h"
#include "fs/open/commit.h"
#include "fs/open/draft.h"
#include "fs/query/as_of.h"
#include "fs/query/query.h"
#include "fs/state/path.h"
#include "fs/tree/access.h"
#include "fs/tree/attr.h"
#include "fs/tree/lookup.h"
#include "fs/tree/rename.h"
#include "fs/tree/tree.h"

/*
 * The request handlers: decode, call, reply exactly once. Those of open files
 * are in file.c.
 *
 * A node in a request is one that the kernel remembers, so it lives until the
 * reply at least; a handler that goes on using one after its reply needs a
 * reference of its own. A reply that hands out a lookup can fail: then the
 * kernel will not forget it, and it is forgotten here.
 */

/* The most that the kernel sends at once. */
#define WRITE_SIZE_MAX (1u << 20)

/* The first kernel interface with epochs, of Linux 6.16. */
#define EPOCH_MINOR 44

static_assert(sizeof(uintptr_t) <= sizeof(uint64_t), "fh holds a pointer");

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

/* The same for what commits at once: others are served while it waits. */
static struct fs *enter_to_change(fuse_req_t req)
{
	struct fs *fs = enter(req);

	if (store_commit_waits(fs->store, fs->options->sync))
		loop_hand_over();
	return fs;
}

/* Tells whoever started the daemon that it serves. Its standard error, which is
 * the other's, is let go, so that nobody waits for its end. */
static void tell_ready(struct fs *fs)
{
	int status = 0, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert(fs->ready_fd >= 0);
	/* Before: who is told finds a daemon that has left its streams. */
	if (null >= 0) {
		dup2(null, STDERR_FILENO);
		close(null);
	}
	(void)!write(fs->ready_fd, &status, sizeof(status));
	close(fs->ready_fd);
	fs->ready_fd = -1;
}

/* The first request of a mount: what the kernel can do is known now, and that
 * the filesystem is served. It has no reply of its own. */
static void on_init(void *userdata, struct fuse_conn_info *conn)
{
	struct fs *fs = userdata;

	conn->max_write = WRITE_SIZE_MAX;
	conn->time_gran = 1000; /* ns: timestamps are microseconds */
	fs->has_epochs = conn->proto_minor >= EPOCH_MINOR;
	if (conn->proto_minor >= PRUNE_MINOR)
		prune_start(fs);
	if (fs->ready_fd >= 0) {
		tell_ready(fs);
		return;
	}
	sd_notify(0, "READY=1");
	printf("tabletfs: %s is served at %s\n", fs->options->store,
	       fs->options->mount_point);
	/* Told now: at the end nothing knows why any more. */
	if (fflush(stdout))
		fprintf(stderr, "tabletfs: standard output: %s\n",
			strerror(errno));
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = enter(req);
	struct node *directory = node_of(&fs->nodes, parent);
	struct fuse_entry_param e;
	int err = entry_lookup(fs, directory, bytes_string(name), &e);

	/* That a name is missing is an entry too: without ino, with the time
	 * for which that holds. */
	if (err < 0)
		fs_reply_error(fs, req, directory, name, err);
	else if (fs_reply_entry(req, &e) < 0 && e.ino)
		node_forget(&fs->nodes, node_of(&fs->nodes, e.ino), 1);
}

/* Forgets are no requests in the sense of .tabletfs/stats: nobody waits. */
static void on_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	struct fs *fs = fs_of(req);

	node_forget(&fs->nodes, node_of(&fs->nodes, ino), count);
	fuse_reply_none(req);
}

static void on_forget_multi(fuse_req_t req, size_t count,
			    struct fuse_forget_data *forgets)
{
	struct fs *fs = fs_of(req);
	size_t i;

	for (i = 0; i < count; i++)
		node_forget(&fs->nodes, node_of(&fs->nodes, forgets[i].ino),
			    forgets[i].nlookup);
	fuse_reply_none(req);
}

/* Answers with node's attributes: of what was done, or of what was read. */
static void reply_attr(struct fs *fs, fuse_req_t req, struct node *node,
		       bool done)
{
	struct stat st;
	double timeout;
	int err = entry_attr(fs, node, &st, &timeout);

	if (err)
		fs_reply_error(fs, req, node, NULL, err);
	else if (done)
		fuse_reply_attr(req, &st,
				fs_timeout(fs, attr_keep(fs, node, timeout)));
	else
		fs_reply_attr(req, &st, attr_keep(fs, node, timeout));
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);

	(void)fi;
	reply_attr(fs, req, node_of(&fs->nodes, ino), false);
}

/* A cell that was made with a mode of its own and is still open shows the usual
 * one, as it does from the last close on anyway. */
static void end_draft_mode(struct fs *fs, struct node *cell)
{
	struct draft *draft = draft_get(fs, cell);

	if (!draft)
		return;
	pthread_mutex_lock(&draft->lock);
	draft->mode = 0;
	pthread_mutex_unlock(&draft->lock);
	draft_put(fs, draft);
}

/* chmod of what is in a table, to another mode than it shows: whether it is
 * taken. */
static bool set_mode_below(struct fs *fs, struct node *node, mode_t mode)
{
	struct place place;
	bool taken;

	if (!node_is_data(node) || node->kind == NODE_ROOT)
		return false;
	taken = !place_enter(fs, node, &place) &&
		access_takes_mode(
			&place.rules.access,
			access_mode(&place.rules.access, node->kind == NODE_CELL
								 ? S_IFREG
								 : S_IFDIR),
			mode);
	place_leave(fs, &place);
	if (taken && node->kind == NODE_CELL)
		end_draft_mode(fs, node);
	return taken;
}

/* chmod and chown of a table, which keeps what is set, durably. What is in the
 * table has other modes and owners then, too, so all that the kernel keeps
 * ends. */
static int set_table_access(struct fs *fs, struct node *node,
			    const struct stat *attr, int to_set)
{
	struct table_access access = { TABLE_ACCESS_UNSET, TABLE_ACCESS_UNSET,
				       TABLE_ACCESS_UNSET };
	struct place place;
	int err;

	assert(node->kind == NODE_TABLE);
	if (to_set & FUSE_SET_ATTR_MODE)
		access.mode = attr->st_mode & 07777;
	if (to_set & FUSE_SET_ATTR_UID)
		access.uid = attr->st_uid;
	if (to_set & FUSE_SET_ATTR_GID)
		access.gid = attr->st_gid;
	loop_hand_over();
	err = place_enter(fs, node, &place);
	if (!err)
		err = store_set_access(fs->store, place.path.table, &access);
	place_leave(fs, &place);
	if (!err)
		fs_access_changed(fs);
	return err;
}

/*
 * What chmod and chown do: set a table's; elsewhere, where owner and mode are
 * the table's or the mount's, nothing if they ask for what is there already or
 * comes to the same, and -EPERM, or nothing with -o quiet, if they do not. cp
 * -p and tar x ask.
 */
static int set_owner_and_mode(struct fs *fs, struct node *node,
			      const struct stat *attr, int to_set)
{
	bool other_mode, other_owner;
	struct stat st;
	double timeout;
	int err;

	if (!(to_set &
	      (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)))
		return 0;
	if (node_is_past(node))
		return fs_refuse(node);
	err = entry_attr(fs, node, &st, &timeout);
	if (err)
		return err;
	/* What is asked for is not what a stat shows. */
	other_mode = to_set & FUSE_SET_ATTR_MODE &&
		     (attr->st_mode & 07777) != (st.st_mode & 07777);
	other_owner =
		(to_set & FUSE_SET_ATTR_UID && attr->st_uid != st.st_uid) ||
		(to_set & FUSE_SET_ATTR_GID && attr->st_gid != st.st_gid);
	if (!other_mode && !other_owner)
		return 0;
	if (node->kind == NODE_TABLE)
		return set_table_access(fs, node, attr, to_set);
	if (!other_owner && set_mode_below(fs, node, attr->st_mode & 07777))
		return 0;
	if (fs->options->quiet)
		return 0;
	return fail(EPERM, "what is in a table has its owner and mode; chmod "
			   "the table, or mount with -o quiet");
}

/* A longer cell counts for the quota as what is written does. */
static int check_growth(struct fs *fs, struct node *node, uint64_t size)
{
	struct stat st;
	double timeout;
	int err;

	if (fs_has_space(fs, size))
		return 0;
	err = entry_attr(fs, node, &st, &timeout);
	if (err || size <= (uint64_t)st.st_size)
		return err;
	fs_await_space(fs, size);
	return fs_check_space(fs, size);
}

/* truncate(2), or with fi ftruncate(2), of a cell. The former commits at once,
 * as nobody will close it. */
static int set_size(struct fs *fs, struct node *node, uint64_t size,
		    struct fuse_file_info *fi)
{
	struct draft *draft;
	int err = check_growth(fs, node, size);

	assert(node->kind == NODE_CELL);
	if (err)
		return err;
	if (fi)
		return file_truncate(fs, fi, size);
	err = draft_open(fs, node, DRAFT_WRITE, &draft);
	/* 1: there is nothing to cut from an aggregate. */
	if (err)
		return err < 0 ? err : 0;
	err = draft_truncate(fs, draft, size);
	if (!err)
		err = draft_flush(fs, draft, false);
	draft_close(fs, draft, DRAFT_WRITE);
	return err;
}

/* utimensat(2) of a recipe, or of a cell: what that does is decided in
 * draft_stamp. */
static int set_time(struct fs *fs, struct node *node, const struct stat *attr,
		    int to_set)
{
	struct draft *draft;
	uint64_t us = fs_now(fs);
	int err;

	if (!(to_set & FUSE_SET_ATTR_MTIME_NOW)) {
		/* In microseconds it has to fit in 63 bits. */
		if (attr->st_mtim.tv_sec < 0 ||
		    attr->st_mtim.tv_sec > INT64_MAX / 1000000 - 1)
			return fail(EINVAL, "a timestamp is microseconds from "
					    "1970 on, in 63 bits");
		us = (uint64_t)attr->st_mtim.tv_sec * 1000000 +
		     (uint64_t)attr->st_mtim.tv_nsec / 1000;
	}
	if (node->kind == NODE_RECIPE)
		return recipe_stamp(fs, node, us);
	assert(node->kind == NODE_CELL);
	/* Without the content, which is not read for this. */
	err = draft_open(fs, node, DRAFT_STAMP, &draft);
	if (err)
		return err;
	err = draft_stamp(fs, draft, us);
	draft_close(fs, draft, DRAFT_STAMP);
	return err;
}

/* Several things can be set at once; the first that is refused ends it. Times
 * and sizes of what is no cell are taken and mean nothing, but for the size of
 * an open import (ctl_truncate), and for versions and what is in .at, which can
 * be set by nobody. */
static void on_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr,
		       int to_set, struct fuse_file_info *fi)
{
	struct fs *fs = enter_to_change(req);
	struct node *node = node_of(&fs->nodes, ino);
	int err = set_owner_and_mode(fs, node, attr, to_set);

	/* A path's truncate opens nothing that could refuse it. */
	if (!err && to_set & (FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_MTIME))
		err = node_is_past(node)           ? fs_refuse(node)
		      : node->kind == NODE_VERSION ? -EACCES
						   : 0;
	if (!err && node->kind == NODE_CELL && to_set & FUSE_SET_ATTR_SIZE)
		err = set_size(fs, node, (uint64_t)attr->st_size, fi);
	else if (!err && fi && to_set & FUSE_SET_ATTR_SIZE)
		err = file_truncate(fs, fi, (uint64_t)attr->st_size);
	if (!err && to_set & FUSE_SET_ATTR_MTIME &&
	    (node->kind == NODE_CELL || node->kind == NODE_RECIPE))
		err = set_time(fs, node, attr, to_set);
	if (err)
		fs_reply_error(fs, req, node, NULL, err);
	else
		reply_attr(fs, req, node, true);
}

/* Answers a request that was to make name: with the error, or with what name
 * leads to. */
static void reply_made(struct fs *fs, fuse_req_t req, struct node *directory,
		       const char *name, int err)
{
	struct fuse_entry_param e;

	if (!err) {
		err = entry_lookup(fs, directory, bytes_string(name), &e);
		/* Another may have removed it already. */
		err = err == 1 ? 0 : err ? err : -ENOENT;
	}
	if (err) {
		fs_reply_error(fs, req, directory, name, err);
		return;
	}
	fs_cut_timeouts(fs, &e);
	if (fuse_reply_entry(req, &e) < 0)
		node_forget(&fs->nodes, node_of(&fs->nodes, e.ino), 1);
}

/* Makes a table, a family of the schema, or a local directory. */
static void on_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
		     mode_t mode)
{
	struct fs *fs = enter(req);
	struct node *directory = node_of(&fs->nodes, parent);
	struct maker maker = { fuse_req_ctx(req)->uid, mode };

	fs_await_space(fs, 0);
	reply_made(fs, req, directory, name,
		   tree_mkdir(fs, directory, bytes_string(name), &maker));
}

/* There are no links, devices and the like to be made: EPERM, as link(2),
 * symlink(2) and mknod(2) have it for such filesystems, and not the ENOSYS of
 * what has no handler. */
static int refuse_special(const struct node *directory)
{
	return node_is_past(directory)
		       ? fs_refuse(directory)
		       : fail(EPERM, "there are no links, pipes or devices");
}

/* Makes an empty file, which is committed at once. */
static void on_mknod(fuse_req_t req, fuse_ino_t parent, const char *name,
		     mode_t mode, dev_t device)
{
	struct fs *fs = enter_to_change(req);
	struct node *directory = node_of(&fs->nodes, parent), *node;
	struct maker maker = { fuse_req_ctx(req)->uid, mode };
	struct draft *draft;
	int err = S_ISREG(mode) ? 0 : refuse_special(directory);

	(void)device;
	if (!err)
		err = tree_create(fs, directory, bytes_string(name), &maker,
				  &node, &draft);
	if (!err && !draft) {
		/* There is no draft: it is of an aggregate family. */
		node_detach(&fs->nodes, node);
		node_put(&fs->nodes, node);
		err = fail(EPERM, "an aggregate begins with its first number");
	} else if (!err) {
		err = draft_flush(fs, draft, false);
		draft_close(fs, draft, DRAFT_CREATE);
		node_put(&fs->nodes, node);
	}
	reply_made(fs, req, directory, name, err);
}

/* Removes a cell, a version or a recipe. */
static void on_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = enter_to_change(req);
	struct node *directory = node_of(&fs->nodes, parent);

	fs_reply_error(
		fs, req, directory, name,
		directory->kind == NODE_RECIPES
			? recipe_unlink(fs, directory, bytes_string(name))
			: tree_unlink(fs, directory, bytes_string(name)));
}

/* Drops an empty table, or family of the schema, or ends a local directory. */
static void on_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = enter_to_change(req);
	struct node *directory = node_of(&fs->nodes, parent);

	fs_reply_error(fs, req, directory, name,
		       tree_rmdir(fs, directory, bytes_string(name)));
}

/* flags are renameat2's. */
static void on_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
		      fuse_ino_t to_parent, const char *to_name,
		      unsigned int flags)
{
	struct fs *fs = enter_to_change(req);
	struct node *directory = node_of(&fs->nodes, parent);
	struct node *to = node_of(&fs->nodes, to_parent);

	bool recipes =
		directory->kind == NODE_RECIPES || to->kind == NODE_RECIPES;

	fs_reply_error(fs, req, directory, name,
		       (recipes ? recipe_rename : tree_rename)(
			       fs, directory, bytes_string(name), to,
			       bytes_string(to_name), flags));
}

static void on_symlink(fuse_req_t req, const char *target, fuse_ino_t parent,
		       const char *name)
{
	struct fs *fs = enter(req);
	struct node *directory = node_of(&fs->nodes, parent);

	(void)target;
	fs_reply_error(fs, req, directory, name, refuse_special(directory));
}

static void on_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent,
		    const char *name)
{
	struct fs *fs = enter(req);
	struct node *directory = node_of(&fs->nodes, parent);

	(void)ino;
	fs_reply_error(fs, req, directory, name, refuse_special(directory));
}

/* A row, or a segment's rows, in .scan. 0 or -ENOMEM. */
static int print_scan_link(struct fs *fs, struct node *node, struct buf *target)
{
	size_t depth = query_depth(fs, node->parent);
	int err = 0;

	/* It says the way up itself. */
	if (node->kind == NODE_SCAN_SEGMENT)
		return query_link(fs, node->parent, node_name(node), target);
	while (!err && depth-- > 0)
		err = buf_add_string(target, "../");
	return err ? err : name_encode(NAME_ROW, node_name(node), target);
}

/* Links are in .scan and .as-of only. */
static void on_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = enter(req);
	struct node *node = node_of(&fs->nodes, ino);
	struct buf target = BUF_INIT;
	int err = node->kind == NODE_AS_OF_LINK
			  ? as_of_target(fs, node, &target)
			  : print_scan_link(fs, node, &target);

	if (!err)
		err = buf_terminate(&target);
	if (err)
		fs_reply_error(fs, req, node, NULL, err);
	else
		fs_reply_readlink(req, (char *)target.data);
	buf_release(&target);
}

/* Whether the kernel may cache the directory's list: as listing_can_be_cached,
 * if it can be told of changes. */
static bool can_cache_list(struct fs *fs, struct node *node)
{
	struct place place;
	bool can;

	if (!node_is_data(node) || !fs->has_epochs || fs->options->follow)
		return false;
	if (node->kind == NODE_ROOT)
		return true;
	can = !place_enter(fs, node, &place) && !place.rules.expires;
	place_leave(fs, &place);
	return can;
}

/* If there is no handler for it, as the kernel hears with the first one, it
 * opens directories and keeps lists by itself, and sends no releasedir. */
static void on_opendir(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);
	struct node *node = node_of(&fs->nodes, ino);
	struct dir *d;
	int err;

	if (fs->has_epochs && !fs->options->opendir && !fs->options->follow) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	err = dir_open(fs, node, dir_next_number(fs), &d);
	if (err) {
		fs_reply_error(fs, req, node, NULL, err);
		return;
	}
	fi->fh = (uint64_t)(uintptr_t)d;
	/* What it has is dropped when something changes unseen; what the kernel
	 * sees change it drops itself. */
	fi->cache_readdir = can_cache_list(fs, node);
	fi->keep_cache = 1;
	if (fs_reply_open(req, fi) < 0) /* it will not be released */
		dir_close(fs, d);
}

/* Without a handle it is about one of the listings in dirs.h. */
static void reply_list(struct fs *fs, fuse_req_t req, fuse_ino_t ino,
		       size_t size, off_t offset, uint64_t handle, bool plus)
{
	struct node *node = node_of(&fs->nodes, ino);

	if (handle)
		dir_reply(fs, (struct dir *)(uintptr_t)handle, req,
			  (uint64_t)offset, size, plus);
	else
		dirs_reply(fs, node, req, (uint64_t)offset, size, plus);
}

static void on_readdir(fuse_req_t req, fuse_ino_t ino, size_t size,
		       off_t offset, struct fuse_file_info *fi)
{
	reply_list(enter(req), req, ino, size, offset, fi->fh, false);
}

static void on_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size,
			   off_t offset, struct fuse_file_info *fi)
{
	reply_list(enter(req), req, ino, size, offset, fi->fh, true);
}

/* No request in the sense of .tabletfs/stats: nobody waits. */
static void on_releasedir(fuse_req_t req, fuse_ino_t ino,
			  struct fuse_file_info *fi)
{
	(void)ino;
	dir_close(fs_of(req), (struct dir *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}

/* Commits what is open anywhere, durably: directories are not told apart. */
static void on_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync,
			struct fuse_file_info *fi)
{
	struct fs *fs = enter(req);

	(void)datasync;
	(void)fi;
	loop_hand_over();
	fs_reply_error(fs, req, node_of(&fs->nodes, ino), NULL,
		       fs_commit_all(fs, true));
}

/* Of the disk or, with a quota, of that. */
static void on_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = enter(req);
	struct statvfs st;
	int err = fs_space(fs, &st);

	if (err)
		fs_reply_error(fs, req, node_of(&fs->nodes, ino), NULL, err);
	else
		fs_reply_statfs(req, &st);
}

const struct fuse_lowlevel_ops fs_ops = {
	.init = on_init,
	.lookup = on_lookup,
	.forget = on_forget,
	.forget_multi = on_forget_multi,
	.getattr = on_getattr,
	.setattr = on_setattr,
	.mkdir = on_mkdir,
	.mknod = on_mknod,
	.unlink = on_unlink,
	.rmdir = on_rmdir,
	.rename = on_rename,
	.symlink = on_symlink,
	.link = on_link,
	.readlink = on_readlink,
	.create = file_on_create,
	.open = file_on_open,
	.read = file_on_read,
	.write = file_on_write,
	.flush = file_on_flush,
	.fsync = file_on_fsync,
	.release = file_on_release,
	.opendir = on_opendir,
	.readdir = on_readdir,
	.readdirplus = on_readdirplus,
	.releasedir = on_releasedir,
	.fsyncdir = on_fsyncdir,
	.statfs = on_statfs,
	.getxattr = xattr_on_get,
	.listxattr = xattr_on_list,
};
