#include <assert.h>

#include "store/base/err.h"
#include "store/engine/core/space.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/run/hold.h"
#include "store/engine/run/room.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"

/*
 * Room on the disk, which others write to as well: what must go on when it is
 * full is held before. The log has room for a batch before the batch is taken;
 * pieces are held for the ssts of all memtables; and always some more, so that
 * deletions and changes of the schema go on: logs, their ssts, an edit log.
 *
 * A batch of data is taken only if all of that can be held with it and some is
 * free. If not, what waits is flushed first, into its pieces, which gives its
 * log back; if that does not help, only what frees space is taken, into the log
 * while that is short enough for a piece, else into a new one.
 */
/* The log and the memtable grow by an eighth of what is free, and no more than
 * this, until the next look. */
#define LOOK_AGAIN_MAX (UINT64_C(4) << 20)

/* Bytes of the memtable with batch. Needs commit. */
static uint64_t arena_with(struct engine *e, const struct batch *batch)
{
	return arena_used(&e->memtable->arena) + memtable_need(batch);
}

/* Holds room for batch in the log and in an sst, and for more bytes of others:
 * 1, 0 if it is not there, or an error. */
static int hold(struct engine *e, const struct batch *batch, uint64_t more)
{
	uint64_t arena = arena_with(e, batch) + more;
	int err = engine_hold_room(e, arena);

	if (err == 0)
		err = wal_reserve(e->wal, batch->data.size + more, 0);
	if (err < 0)
		return err == -ENOSPC ? 0 : err;
	e->arena_room = arena;
	return 1;
}

void engine_room_look(struct engine *e)
{
	struct volume_space space;

	if (e->volume->ops->space(e->volume, &space) < 0)
		err_clear();
	else if (engine_space_short(&space))
		engine_want_room(e);
}

void engine_room_tick(struct engine *e)
{
	bool any;

	if (e->options.read_only || atomic_load(&e->error) < 0)
		return;
	pthread_mutex_lock(&e->lock);
	any = memtable_first_delete(e->memtable) != UINT64_MAX;
	pthread_mutex_unlock(&e->lock);
	if (any)
		engine_room_look(e);
}

/* As hold, with as much more as is good. */
static int look(struct engine *e, const struct batch *batch)
{
	struct volume_space space;
	int room = e->volume->ops->space(e->volume, &space);
	uint64_t more, left;

	if (room < 0)
		return room;
	left = engine_data_space(&space);
	if (left < 2 * batch->data.size)
		return 0;
	more = left / 8;
	more = more < LOOK_AGAIN_MAX ? more : LOOK_AGAIN_MAX;
	room = hold(e, batch, more);
	if (room == 0 && more > 0)
		room = hold(e, batch, 0);
	if (room > 0 && atomic_exchange(&e->full, false))
		event_add(&e->events, EVENTS_ERRORS, "full_over");
	return room;
}

bool engine_frees_space(const struct batch *batch)
{
	struct batch_record record;
	size_t position = 0;

	while (batch_next(batch, &position, &record))
		if (record.kind != KEY_DELETE && record.kind != BATCH_RANGE &&
		    key_table(record.key) != 0)
			return false;
	return true;
}

/* Turns logs into ssts, unless the background has found that it cannot: then it
 * tries again with pauses, and a writer would do so without. What frees space
 * has pieces. */
static int flush_all(struct engine *e, bool frees)
{
	int err = e->wake && !frees ? engine_no_room(e) : 0;

	/* The last pieces are not spent on data. */
	if (err == 0 && !frees)
		err = engine_hold_room(e, arena_used(&e->memtable->arena));
	if (err == 0)
		err = engine_flush_waiting(e);
	if (err == 0 && e->memtable->last_seq > 0)
		err = engine_rotate(e, 0);
	return err < 0 ? err : engine_flush_waiting(e);
}

/* Whether what frees space has room where an sst of the memtable fits a piece
 * that is always held, or the one that it has. */
static int room_to_free(struct engine *e, const struct batch *batch)
{
	uint64_t arena = arena_with(e, batch);
	int err;

	if (arena > e->arena_room && arena > engine_small_arena(e))
		return 0;
	err = wal_reserve(e->wal, batch->data.size, 0);
	return err == -ENOSPC ? 0 : err < 0 ? err : 1;
}

/* Flushes what waits, which gives its log back: 1 if there is room then, 0 if
 * not, or an error. */
static int flush_for(struct engine *e, const struct batch *batch, bool frees)
{
	int room;

	if (flush_all(e, frees) < 0)
		err_clear();
	room = look(e, batch);
	return room == 0 && frees ? room_to_free(e, batch) : room;
}

/* As flush_for, of what frees space: as long as something is given back. The
 * background may be late, or pausing. */
static int reclaim_for(struct engine *e, const struct batch *batch)
{
	int room = 0;

	atomic_store(&e->room_wanted, true);
	while (room == 0 && engine_step(e) > 0)
		room = flush_for(e, batch, true);
	return room;
}

/* What a writer waits so long for is told. */
#define TOLD_US 10000

/* Where a look has found no room: 1, 0 if there is none, or an error. */
static int make_room(struct engine *e, const struct batch *batch)
{
	uint64_t start = event_now(&e->events), us;
	bool frees = engine_frees_space(batch);
	int room;

	atomic_store(&e->now.stalled_since_us, start);
	atomic_store(&e->now.stalled, STALL_ROOM);
	room = frees ? room_to_free(e, batch) : 0;
	if (room == 0)
		room = flush_for(e, batch, frees);
	if (room == 0 && frees)
		room = reclaim_for(e, batch);
	us = event_since(&e->events, start);
	atomic_store(&e->now.stalled, STALL_NONE);
	if (us < TOLD_US)
		return room;
	atomic_fetch_add(&e->counters.stalls[STALL_ROOM], 1);
	atomic_fetch_add(&e->counters.stall_us[STALL_ROOM], us);
	event_add(&e->events, EVENTS_MAIN, "stall_over for=%s us=%llu",
		  stall_word(STALL_ROOM), (unsigned long long)us);
	return room;
}

/* The first that is refused is told, until there is room again. */
static int refuse(struct engine *e)
{
	int err = fail(ENOSPC,
		       "%s: the rest of the disk is kept for moving what is in "
		       "the log to ssts; delete something or make space",
		       e->volume->path);

	if (!atomic_exchange(&e->full, true))
		event_add(&e->events, EVENTS_ERRORS, "full why=%s",
			  err_detail());
	return err;
}

int engine_log_room(struct engine *e, const struct batch *batch)
{
	int room;

	assert(e->wal && batch->count > 0);
	if (wal_has_room(e->wal, batch->data.size) &&
	    arena_with(e, batch) <= e->arena_room)
		return 0;
	room = look(e, batch);
	if (room == 0)
		room = make_room(e, batch);
	if (room == 0)
		return refuse(e);
	return room < 0 ? room : 0;
}
