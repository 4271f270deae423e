#include <time.h>

#include "store/base/err.h"
#include "store/engine/core/history.h"
#include "store/engine/core/space.h"
#include "store/engine/core/trouble.h"

/* A 16th of the disk, within these bytes. */
#define FREE_MIN (UINT64_C(1) << 20)
#define FREE_MAX (UINT64_C(64) << 20)
#define FREE_SHARE 16

/* How long who writes waits for history to give way, how often it looks, and
 * how long after there is none left. */
#define GIVE_WAY_MS 2000
#define PAUSE_MS 10
#define SETTLE_MS 300

static uint64_t kept_size(const struct volume_space *space)
{
	uint64_t size = space->total_size / FREE_SHARE;

	return size < FREE_MIN ? FREE_MIN : size > FREE_MAX ? FREE_MAX : size;
}

uint64_t engine_data_space(const struct volume_space *space)
{
	uint64_t kept = kept_size(space);

	return space->available_size > kept ? space->available_size - kept : 0;
}

/* Twice of what data leaves, since something large may have been refused. */
bool engine_space_short(const struct volume_space *space)
{
	return engine_data_space(space) < kept_size(space);
}

/* Large values that take one byte in so many of a blob file. */
#define WORTH_LARGE_SHARE 64

bool engine_brought_large(const struct engine *e)
{
	return atomic_load(&e->large_fresh) >=
	       e->options.blob_file_size / WORTH_LARGE_SHARE;
}

/* Whether there is history that could give way, or will be when what is in
 * memory was flushed, or such that has and is not free yet. */
static bool has_history(struct engine *e)
{
	struct version *v;
	bool has;

	if (atomic_load(&e->history_us) == 0)
		return false;
	pthread_mutex_lock(&e->lock);
	v = version_get(e->version);
	has = v->past_count > 0 || e->immutable_count > 0 ||
	      (atomic_load(&e->quota) > 0 && engine_brought_large(e)) ||
	      memtable_first_delete(e->memtable) != UINT64_MAX;
	pthread_mutex_unlock(&e->lock);
	has = has || history_comes_back(v);
	version_put(v);
	return has;
}

/* Looks at the disk: whether size bytes may be written, or an error. */
static int admits(struct engine *e, uint64_t size, struct volume_space *space)
{
	int err = e->volume->ops->space(e->volume, space);

	return err < 0 ? err : size <= engine_data_space(space);
}

/* Has history give way to size bytes: as fits. What it gave up is on the disk
 * for a moment yet. */
static int wait_for_history(struct engine *e, uint64_t size,
			    int (*fits)(void *context), void *context)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000L };
	unsigned int waited = 0, gone = 0;
	int result = 0;

	if (!e->wake || !has_history(e))
		return 0;
	atomic_store(&e->history_asked, size);
	while (result == 0 && waited < GIVE_WAY_MS && gone < SETTLE_MS) {
		atomic_store(&e->history_wanted, true);
		engine_want_room(e);
		nanosleep(&pause, NULL);
		waited += PAUSE_MS;
		gone = has_history(e) ? 0 : gone + PAUSE_MS;
		result = fits(context);
	}
	return result;
}

int engine_wait_for_history(struct engine *e, uint64_t size,
			    int (*fits)(void *context), void *context)
{
	return wait_for_history(e, size, fits, context);
}

/* What is to be written. */
struct admission {
	struct engine *e;
	uint64_t size;
	struct volume_space space; /* when it was looked at */
};

static int fits_disk(void *context)
{
	struct admission *a = context;

	return admits(a->e, a->size, &a->space);
}

int engine_admit_data(struct engine *e, uint64_t size)
{
	struct admission a = { .e = e, .size = size };
	int result = fits_disk(&a);

	if (result == 0)
		result = wait_for_history(e, size + kept_size(&a.space),
					  fits_disk, &a);
	if (result != 0)
		return result < 0 ? result : 0;
	engine_want_room(e);
	return fail(ENOSPC,
		    "%s: the rest of the disk is kept for compactions, which "
		    "give space back; delete something or make space",
		    e->volume->path);
}
