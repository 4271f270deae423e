#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fs/at.h"
#include "fs/ctl.h"
#include "fs/draft.h"
#include "fs/fs.h"
#include "fs/seen.h"
#include "store/text.h"

int fs_init(struct fs *fs, const struct mount_options *o, struct store *s)
{
	int err;

	memset(fs, 0, sizeof(*fs));
	fs->options = o;
	fs->store = s;
	fs->ready_fd = -1;
	fs->uid = getuid();
	fs->gid = getgid();
	fs->start_us = fs_now();
	fs->has_epochs = true;
	err = gc_policy_parse(bytes_string(o->gc), &fs->gc);
	if (err)
		return err;
	err = nodes_init(&fs->nodes);
	if (err)
		goto free_policy;
	err = imports_new(&fs->imports);
	if (err)
		goto free_nodes;
	err = seen_new(&fs->seen);
	if (err)
		goto free_imports;
	fs->nodes.root->timestamp_us = fs->start_us;
	errors_init(&fs->errors);
	pins_init(&fs->pins);
	pthread_rwlock_init(&fs->tree, NULL);
	return 0;

free_imports:
	imports_free(fs->imports);
free_nodes:
	nodes_release(&fs->nodes);
free_policy:
	gc_policy_free(fs->gc);
	return err;
}

void fs_release(struct fs *fs)
{
	drafts_release(fs);
	pins_release(fs);
	nodes_release(&fs->nodes);
	imports_free(fs->imports);
	seen_free(fs->seen);
	errors_release(&fs->errors);
	pthread_rwlock_destroy(&fs->tree);
	gc_policy_free(fs->gc);
}

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
