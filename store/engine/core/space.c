#include "store/base/err.h"
#include "store/engine/core/space.h"
#include "store/engine/core/trouble.h"

/* A 16th of the disk, within these bytes. */
#define FREE_MIN (UINT64_C(1) << 20)
#define FREE_MAX (UINT64_C(64) << 20)
#define FREE_SHARE 16

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

int engine_admit_data(struct engine *e, uint64_t size)
{
	struct volume_space space;
	int err = e->volume->ops->space(e->volume, &space);

	if (err < 0 || size <= engine_data_space(&space))
		return err;
	engine_want_room(e);
	return fail(ENOSPC,
		    "%s: the rest of the disk is kept for compactions, which "
		    "give space back; delete something or make space",
		    e->volume->path);
}
