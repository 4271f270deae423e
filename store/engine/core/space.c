#include "store/base/err.h"
#include "store/engine/core/space.h"

/* A 16th of the disk, within these bytes. */
#define FREE_MIN (UINT64_C(1) << 20)
#define FREE_MAX (UINT64_C(64) << 20)
#define FREE_SHARE 16

uint64_t engine_data_space(const struct volume_space *space)
{
	uint64_t left = space->total_size / FREE_SHARE;

	left = left < FREE_MIN ? FREE_MIN : left > FREE_MAX ? FREE_MAX : left;
	return space->available_size > left ? space->available_size - left : 0;
}

int engine_admit_data(struct engine *e, uint64_t size)
{
	struct volume_space space;
	int err = e->volume->ops->space(e->volume, &space);

	if (err < 0 || size <= engine_data_space(&space))
		return err;
	atomic_store(&e->room_wanted, true);
	engine_wake(e);
	return fail(ENOSPC,
		    "%s: the rest of the disk is kept for compactions, which "
		    "give space back; delete something or make space",
		    e->volume->path);
}
