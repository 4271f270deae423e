#include <assert.h>
#include <unistd.h>

#include "fs/cells/pin.h"
#include "fs/cells/place.h"
#include "fs/cells/seen.h"
#include "fs/cells/turn.h"
#include "fs/control/ctl_import.h"
#include "fs/kernel/dirs.h"
#include "fs/kernel/file.h"
#include "fs/kernel/mount.h"
#include "fs/open/draft.h"
#include "fs/query/sized.h"
#include "fs/state/ino.h"
#include "store/text/value/gcpolicy.h"

/* The parts of a filesystem, each of which has a file of its own: made in an
 * order in which none needs a later one, and released. */

/* For fs->metrics. */
static void tell_request(void *context, const char *kind, uint64_t us,
			 const struct cost *cost)
{
	store_tell_request(context, kind, us, cost);
}

int fs_init(struct fs *fs, const struct mount_options *o, struct store *s)
{
	int err;

	assert(o && s);
	memset(fs, 0, sizeof(*fs));
	fs->options = o;
	fs->store = s;
	metrics_init(&fs->metrics);
	fs->metrics.taken = tell_request;
	fs->metrics.context = s;
	fs->ready_fd = -1;
	fs->uid =
		o->access.uid == TABLE_ACCESS_UNSET ? getuid() : o->access.uid;
	fs->gid =
		o->access.gid == TABLE_ACCESS_UNSET ? getgid() : o->access.gid;
	fs->start_us = fs_now(fs);
	fs->start_steady_us = fs_steady();
	fs->has_epochs = true; /* until the kernel says its version */
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
	makers_init(&fs->makers);
	pins_init(&fs->pins);
	pthread_mutex_init(&fs->exports.lock, NULL);
	pthread_cond_init(&fs->exports.idle, NULL);
	pthread_mutex_init(&fs->handles.lock, NULL);
	pthread_mutex_init(&fs->dirs.lock, NULL);
	pthread_mutex_init(&fs->dropping, NULL);
	tree_init(fs);
	turns_init(&fs->turns);
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
	/* These refer to nodes, and the first to pins. */
	dirs_release(fs);
	files_release(fs);
	drafts_release(fs);
	pins_release(fs);
	exports_release(fs);
	inos_release(&fs->nodes);
	nodes_release(&fs->nodes);
	imports_free(fs->imports);
	seen_free(fs->seen);
	errors_release(&fs->errors);
	makers_release(&fs->makers);
	turns_release(&fs->turns);
	tree_release(fs);
	pthread_mutex_destroy(&fs->handles.lock);
	pthread_mutex_destroy(&fs->dropping);
	gc_policy_free(fs->gc);
}
