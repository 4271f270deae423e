#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "fs/state/fs.h"
#include "fs/state/path.h"

uint64_t fs_now(const struct fs *fs)
{
	return store_now(fs->store);
}

#define REACH_US 5000

void fs_reach(const struct fs *fs, uint64_t us)
{
	uint64_t now = fs_now(fs);

	if (us > now && us - now <= REACH_US)
		usleep((useconds_t)(us - now));
}

uint64_t fs_steady(void)
{
	return histogram_now_ns() / 1000;
}

int fs_refuse(const struct node *directory)
{
	if (!node_is_past(directory))
		return fail(EPERM, "nothing is made or removed here by hand");
	return fail(EROFS, "the past does not change; copy what is wanted from "
			   "it into the table");
}

void fs_changed(struct fs *fs)
{
	atomic_fetch_add(&fs->changes, 1);
}

void fs_log_error_of(struct fs *fs, struct node *node, const char *name,
		     int err, uid_t uid)
{
	struct buf path = BUF_INIT;

	assert(err < 0);
	if (node && node_print_path(&fs->nodes, node, &path))
		goto release;
	/* Of the root, whose path is "/", the slash is there already. */
	if (name && ((path.size != 1 && buf_add_byte(&path, '/')) ||
		     buf_add_string(&path, name)))
		goto release;
	errors_add(&fs->errors, buf_bytes(&path), err, uid);
release:
	buf_release(&path);
}

void fs_log_error(struct fs *fs, struct node *node, const char *name, int err)
{
	fs_log_error_of(fs, node, name, err, fs->uid);
}
