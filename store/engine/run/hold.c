#include <assert.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/run/hold.h"

/*
 * What is held of the disk: a piece for the sst of each memtable, and always
 * some small logs with their ssts and an edit log. What a batch needs of it is
 * decided in room.c.
 */
/* Small logs and their ssts that are always held. */
#define LOG_PIECES 3
/* Bytes of a small log: a 256th of the disk, within these. */
#define UNIT_MIN (UINT64_C(64) << 10)
#define UNIT_MAX (UINT64_C(96) << 10)
#define UNIT_SHARE 256
/* What an sst has beside entries. */
#define SST_EXTRA (UINT64_C(64) << 10)

uint64_t engine_sst_room(uint64_t arena_size)
{
	return arena_size + arena_size / 8 + SST_EXTRA;
}

/* The disk's size is asked for once. */
uint64_t engine_log_piece(struct engine *e)
{
	uint64_t unit = atomic_load(&e->spare_unit);
	struct volume_space space;

	if (unit > 0)
		return unit;
	unit = UNIT_MAX;
	if (e->volume->ops->space(e->volume, &space) == 0)
		unit = space.total_size / UNIT_SHARE;
	else
		err_clear();
	unit -= unit % 4096;
	unit = unit < UNIT_MIN ? UNIT_MIN : unit > UNIT_MAX ? UNIT_MAX : unit;
	atomic_store(&e->spare_unit, unit);
	return unit;
}

uint64_t engine_small_arena(struct engine *e)
{
	return 2 * engine_log_piece(e);
}

/* engine_hold_room, or engine_keep_room. */
static int hold(struct engine *e, uint64_t more, bool keep)
{
	uint64_t sizes[IMMUTABLES_MAX + 2 + 2 * LOG_PIECES];
	uint64_t unit = engine_log_piece(e);
	size_t count = 0, i;
	bool before;
	int err;

	static_assert(IMMUTABLES_MAX + 2 + 2 * LOG_PIECES <= VOLUME_SPARES_MAX,
		      "a volume holds so many pieces");
	for (i = 0; i < LOG_PIECES; i++) {
		sizes[count++] = unit;
		sizes[count++] = engine_sst_room(engine_small_arena(e));
	}
	sizes[count++] = unit; /* an edit log */
	pthread_mutex_lock(&e->lock);
	for (i = 0; i < e->immutable_count; i++)
		sizes[count++] =
			engine_sst_room(arena_used(&e->immutables[i]->arena));
	pthread_mutex_unlock(&e->lock);
	if (more > engine_small_arena(e))
		sizes[count++] = engine_sst_room(more);
	atomic_store(&e->spare_surplus, more > engine_small_arena(e) ||
						count > 2 * LOG_PIECES + 1);
	err = e->volume->ops->spare_hold(e->volume, sizes, count, keep);
	before = atomic_exchange(&e->spare_short, err < 0);
	if (err < 0 && !before)
		event_add(&e->events, EVENTS_ERRORS, "room_lost why=%s",
			  err_detail());
	if (err == 0 && before)
		event_add(&e->events, EVENTS_ERRORS, "room_held");
	return err;
}

int engine_hold_room(struct engine *e, uint64_t more)
{
	return hold(e, more, false);
}

int engine_keep_room(struct engine *e)
{
	return hold(e, 0, true);
}

void engine_room_idle(struct engine *e)
{
	uint64_t used;

	if (!atomic_load(&e->spare_surplus) && !atomic_load(&e->spare_short))
		return;
	/* Who has it may be waiting for background work. */
	if (pthread_mutex_trylock(&e->commit) != 0)
		return;
	used = arena_used(&e->memtable->arena);
	if (engine_hold_room(e, used) < 0)
		err_clear();
	e->arena_room = used;
	pthread_mutex_unlock(&e->commit);
}
