#include <assert.h>
#include <errno.h>

#include "fs/cells/space.h"
#include "fs/state/name.h"
#include "store/base/err.h"

/* Of the quota: so much more than is missing is looked for. */
#define SPARE_SHARE 32
/* With less than this of it left room is looked for. */
#define NEAR_SHARE 8
/* The unit in which statfs tells sizes. */
#define BLOCK_SIZE 4096

/* Bytes that count for the quota: what the store's files have of live data and
 * of what a compaction has not yet removed or a reader has yet, the log, and
 * what is loaded in bulk and not seen yet. History takes what these leave. */
static uint64_t used_size(struct fs *fs)
{
	struct store_stats stats;
	uint64_t used;
	size_t i;

	store_stats(fs->store, &stats);
	used = stats.memtable_used; /* what the log holds */
	used += stats.blob_size + stats.obsolete_size + stats.loading_size;
	for (i = 0; i < sizeof(stats.sst_size) / sizeof(*stats.sst_size); i++)
		used += stats.sst_size[i];
	/* The figures are not of one moment. */
	return used > stats.history_large_size ? used - stats.history_large_size
					       : 0;
}

/* What is to be written. */
struct need {
	struct fs *fs;
	uint64_t limit, more;
	uint64_t missing; /* bytes, when it was looked at */
};

/* Whether there is room for it now. */
static int fits(void *context)
{
	struct need *n = context;
	uint64_t used = used_size(n->fs) + atomic_load(&n->fs->uncommitted);
	bool is_used_up = used >= n->limit;

	n->missing = used + n->more - n->limit;
	return !is_used_up && n->more <= n->limit - used;
}

/* Whether there is room up to so much beyond the quota. */
static int check(struct fs *fs, uint64_t beyond, uint64_t more)
{
	uint64_t quota = fs->options->quota_size;
	struct need n = { .fs = fs, .limit = quota + beyond, .more = more };

	if (quota == 0 || fits(&n))
		return 0;
	store_want_room(fs->store);
	return fail(ENOSPC,
		    "the quota of %llu bytes is used up; tabletfs compact "
		    "frees what was removed",
		    (unsigned long long)quota);
}

int fs_check_space(struct fs *fs, uint64_t more)
{
	return check(fs, 0, more);
}

bool fs_has_space(struct fs *fs, uint64_t more)
{
	uint64_t quota = fs->options->quota_size;
	struct need n = { .fs = fs, .limit = quota, .more = more };

	return quota == 0 || fits(&n);
}

int fs_check_moved(struct fs *fs, uint64_t more)
{
	uint64_t quota = fs->options->quota_size, rest = UINT64_MAX - quota;

	return check(fs, quota / 8 < rest ? quota / 8 : rest, more);
}

void fs_tend_space(struct fs *fs)
{
	if (!fs_has_space(fs, fs->options->quota_size / NEAR_SHARE))
		store_want_room(fs->store);
}

void fs_await_space(struct fs *fs, uint64_t more)
{
	uint64_t quota = fs->options->quota_size;
	struct need n = { .fs = fs, .limit = quota, .more = more };

	/* What can never fit is not waited for. */
	if (quota == 0 || more > quota || fits(&n))
		return;
	/* So that not each write waits. Who asks next tells of errors. */
	if (store_wait_for_room(fs->store, n.missing + quota / SPARE_SHARE,
				fits, &n) < 0)
		err_clear();
}

int fs_space(struct fs *fs, struct statvfs *st)
{
	struct volume *v = store_volume(fs->store);
	uint64_t quota = fs->options->quota_size, left;
	struct volume_space space;
	int err = v->ops->space(v, &space);

	if (err)
		return err;
	if (quota > 0) {
		left = used_size(fs);
		left = left < quota ? quota - left : 0;
		assert(left <= quota);
		space.total_size = quota;
		if (space.free_size > left)
			space.free_size = left;
		if (space.available_size > left)
			space.available_size = left;
	}
	memset(st, 0, sizeof(*st));
	st->f_bsize = BLOCK_SIZE;
	st->f_frsize = BLOCK_SIZE;
	st->f_blocks = space.total_size / BLOCK_SIZE;
	st->f_bfree = space.free_size / BLOCK_SIZE;
	st->f_bavail = space.available_size / BLOCK_SIZE;
	st->f_namemax = NAME_SIZE_MAX;
	return 0;
}
