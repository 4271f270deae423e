#include <assert.h>
#include <errno.h>

#include "fs/cells/loop.h"
#include "fs/cells/reply.h"

/* Errors that are answers (no such file) come without a detail, and a log of
 * them would push out those that somebody has to act on. */
static bool is_worth_telling(int err)
{
	return *err_detail() || err == -EIO || err == -ENOMEM || err == -ENOSPC;
}

int fs_answerable(struct fs *fs)
{
	int err = store_answerable(fs->store, false);

	if (err != -EAGAIN)
		return err;
	loop_hand_over();
	return store_answerable(fs->store, true);
}

void fs_catch_up(struct fs *fs)
{
	if (!fs->options->follow || !store_is_behind(fs->store))
		return;
	loop_hand_over();
	if (store_refresh(fs->store) < 0)
		err_clear();
}

bool fs_look_again(struct fs *fs)
{
	bool looked;

	if (!fs->options->follow)
		return false;
	loop_hand_over();
	looked = store_refresh(fs->store) == 0;
	err_clear();
	return looked;
}

/* Who writes where another has the store by now is told that; all else that
 * failed may be an answer of what was. The kernel walks a path again that was
 * -ESTALE, once. */
void fs_reply_error(struct fs *fs, fuse_req_t req, struct node *node,
		    const char *name, int err)
{
	int stale = err == 0 || err == -ERR_store_lost ? 0 : fs_answerable(fs);

	assert(err <= 0);
	if (stale)
		err = stale;
	/* Told before the reply: who gets the error may read the file. */
	if (err && is_worth_telling(err))
		fs_log_error_of(fs, node, name, err, fuse_req_ctx(req)->uid);
	/* Who is too old has looked already. */
	if (err == -ESTALE && !stale)
		fs_look_again(fs);
	fuse_reply_err(req, err ? err_errno(err) : 0);
}

/* 0, or negative when the request was answered by that. */
static int may_answer(fuse_req_t req)
{
	struct fs *fs = fs_of(req);
	int err = fs_answerable(fs);

	if (!err)
		return 0;
	fs_log_error_of(fs, NULL, NULL, err, fuse_req_ctx(req)->uid);
	fuse_reply_err(req, err_errno(err));
	return err;
}

double fs_timeout(struct fs *fs, double timeout)
{
	uint64_t left = store_answer_left(fs->store);

	if (left == UINT64_MAX)
		return timeout;
	left = left > REPLY_TICKS_MS ? left - REPLY_TICKS_MS : 0;
	return timeout < (double)left / 1e3 ? timeout : (double)left / 1e3;
}

void fs_cut_timeouts(struct fs *fs, struct fuse_entry_param *e)
{
	e->entry_timeout = fs_timeout(fs, e->entry_timeout);
	e->attr_timeout = fs_timeout(fs, e->attr_timeout);
}

int fs_reply_entry(fuse_req_t req, struct fuse_entry_param *e)
{
	int err = may_answer(req);

	if (err)
		return err;
	fs_cut_timeouts(fs_of(req), e);
	return fuse_reply_entry(req, e);
}

int fs_reply_attr(fuse_req_t req, const struct stat *st, double timeout)
{
	int err = may_answer(req);

	return err ? err
		   : fuse_reply_attr(req, st, fs_timeout(fs_of(req), timeout));
}

int fs_reply_open(fuse_req_t req, const struct fuse_file_info *fi)
{
	int err = may_answer(req);

	return err ? err : fuse_reply_open(req, fi);
}

int fs_reply_buf(fuse_req_t req, const char *data, size_t size)
{
	int err = may_answer(req);

	return err ? err : fuse_reply_buf(req, data, size);
}

int fs_reply_readlink(fuse_req_t req, const char *target)
{
	int err = may_answer(req);

	return err ? err : fuse_reply_readlink(req, target);
}

int fs_reply_xattr(fuse_req_t req, size_t size)
{
	int err = may_answer(req);

	return err ? err : fuse_reply_xattr(req, size);
}

int fs_reply_statfs(fuse_req_t req, const struct statvfs *st)
{
	int err = may_answer(req);

	return err ? err : fuse_reply_statfs(req, st);
}
