#include <time.h>

#include "store/base/err.h"
#include "store/engine/core/space.h"
#include "store/engine/core/trouble.h"

/* A 16th of the disk, within these bytes. */
#define FREE_MIN (UINT64_C(1) << 20)
#define FREE_MAX (UINT64_C(64) << 20)
#define FREE_SHARE 16

/* How long who writes waits for room, how often it looks, and how long after
 * the background has found all that there was. */
#define WAIT_MS 2000
#define PAUSE_MS 10
#define SETTLE_MS 300
/* How long after a wait in vain nobody waits, if nothing is written. */
#define VAIN_MS 400

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

bool engine_space_left(const struct volume_space *space)
{
	return space->available_size >= kept_size(space) / 2;
}

/* Whether something may come back: history that could give way, and what
 * commits in memory supersede, which is known when they were flushed. */
static bool may_give_back(struct engine *e)
{
	bool may;

	pthread_mutex_lock(&e->lock);
	may = e->version->past_count > 0 || e->immutable_count > 0 ||
	      memtable_first_delete(e->memtable) != UINT64_MAX ||
	      atomic_load(&e->fresh_large) > 0 ||
	      arena_used(&e->memtable->arena) >= SPACE_MEMTABLE_MIN;
	pthread_mutex_unlock(&e->lock);
	return may;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Whether somebody just waited in vain, and nothing was written since. */
static bool was_in_vain(const struct engine *e)
{
	return atomic_load(&e->vain_seq) == atomic_load(&e->visible_seq) + 1 &&
	       now_ms() < atomic_load(&e->vain_ms) + VAIN_MS;
}

int engine_wait_for_room(struct engine *e, uint64_t size,
			 int (*fits)(void *context), void *context)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000L };
	unsigned int waited = 0, settled = 0;
	int result = 0;
	bool may;

	if (!e->wake || was_in_vain(e))
		return 0;
	if (e->about_to_wait)
		e->about_to_wait(e->wait_context);
	atomic_store(&e->history_asked, size);
	engine_want_room(e);
	while (result == 0 && waited < WAIT_MS && settled < SETTLE_MS) {
		may = may_give_back(e);
		if (may) {
			atomic_store(&e->history_wanted, true);
			engine_want_room(e);
		}
		nanosleep(&pause, NULL);
		waited += PAUSE_MS;
		may |= atomic_load(&e->room_wanted);
		settled = may ? 0 : settled + PAUSE_MS;
		result = fits(context);
	}
	if (result == 0) {
		atomic_store(&e->vain_seq, atomic_load(&e->visible_seq) + 1);
		atomic_store(&e->vain_ms, now_ms());
	}
	return result;
}

/* What is to be written. */
struct admission {
	struct engine *e;
	uint64_t size;
	struct volume_space space; /* when it was looked at */
};

/* Whether it may be, as the disk is: 1, 0, or an error. */
static int admits(void *context)
{
	struct admission *a = context;
	int err = a->e->volume->ops->space(a->e->volume, &a->space);

	return err < 0 ? err : a->size <= engine_data_space(&a->space);
}

int engine_admit_data(struct engine *e, uint64_t size)
{
	struct admission a = { .e = e, .size = size };
	int result = admits(&a);

	if (result == 0)
		result = engine_wait_for_room(e, size + kept_size(&a.space),
					      admits, &a);
	if (result != 0)
		return result < 0 ? result : 0;
	engine_want_room(e);
	return fail(ENOSPC,
		    "%s: the rest of the disk is kept for compactions, which "
		    "give space back; delete something or make space",
		    e->volume->path);
}
