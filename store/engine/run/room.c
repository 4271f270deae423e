#include <assert.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/run/room.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"

/*
 * Room on the disk, which others write to as well: what must go on when it is
 * full is held before. The log has room for a batch before the batch is taken;
 * pieces are held for the ssts of all memtables; and always some more, so that
 * deletions and changes of the schema go on: logs, their ssts, an edit log.
 *
 * A batch of data is taken only if all of that can be held with it and some is
 * free. If not,
 * what waits is flushed first, into its pieces, which gives its log back; if
 * that does not help, only what frees space is taken, into the log while that
 * is short enough for a piece, else into a new one.
 */
/* Small logs and their ssts that are always held. */
#define LOG_PIECES 3
/* Bytes of a small log: a 256th of the disk, within these. */
#define UNIT_MIN (UINT64_C(64) << 10)
#define UNIT_MAX (UINT64_C(512) << 10)
#define UNIT_SHARE 256
/* Besides what is held, data leaves free a 16th of the disk, within these
 * bytes: compactions, which give space back, first take some. */
#define FREE_MIN (UINT64_C(1) << 20)
#define FREE_MAX (UINT64_C(64) << 20)
#define FREE_SHARE 16
/* What an sst has beside entries. */
#define SST_EXTRA (UINT64_C(64) << 10)
/* The log and the memtable grow by an eighth of what is free, and no more than
 * this, until the next look. */
#define LOOK_AGAIN_MAX (UINT64_C(4) << 20)

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

/* Bytes that a memtable may take if its sst is to fit a piece that is always
 * held. */
static uint64_t small_arena(struct engine *e)
{
	return 2 * engine_log_piece(e);
}

int engine_hold_room(struct engine *e, uint64_t more)
{
	uint64_t sizes[IMMUTABLES_MAX + 2 + 2 * LOG_PIECES];
	uint64_t unit = engine_log_piece(e);
	size_t count = 0, i;
	int err;

	static_assert(IMMUTABLES_MAX + 2 + 2 * LOG_PIECES <= VOLUME_SPARES_MAX,
		      "a volume holds so many pieces");
	for (i = 0; i < LOG_PIECES; i++) {
		sizes[count++] = unit;
		sizes[count++] = engine_sst_room(small_arena(e));
	}
	sizes[count++] = unit; /* an edit log */
	pthread_mutex_lock(&e->lock);
	for (i = 0; i < e->immutable_count; i++)
		sizes[count++] =
			engine_sst_room(arena_used(&e->immutables[i]->arena));
	pthread_mutex_unlock(&e->lock);
	if (more > small_arena(e))
		sizes[count++] = engine_sst_room(more);
	atomic_store(&e->spare_surplus,
		     more > small_arena(e) || count > 2 * LOG_PIECES + 1);
	err = e->volume->ops->spare_hold(e->volume, sizes, count);
	atomic_store(&e->spare_short, err < 0);
	return err;
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

/* As hold, with as much more as is good. */
static int look(struct engine *e, const struct batch *batch)
{
	struct volume_space space;
	int room = e->volume->ops->space(e->volume, &space);
	uint64_t more, left;

	if (room < 0)
		return room;
	left = space.total_size / FREE_SHARE;
	left = left < FREE_MIN ? FREE_MIN : left > FREE_MAX ? FREE_MAX : left;
	if (space.available_size < left + 2 * batch->data.size)
		return 0;
	more = (space.available_size - left) / 8;
	more = more < LOOK_AGAIN_MAX ? more : LOOK_AGAIN_MAX;
	room = hold(e, batch, more);
	return room == 0 && more > 0 ? hold(e, batch, 0) : room;
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
		err = engine_rotate(e, e->options.memtable_size);
	return err < 0 ? err : engine_flush_waiting(e);
}

/* Whether what frees space has room where an sst of the memtable fits a piece
 * that is always held, or the one that it has. */
static int room_to_free(struct engine *e, const struct batch *batch)
{
	uint64_t arena = arena_with(e, batch);
	int err;

	if (arena > e->arena_room && arena > small_arena(e))
		return 0;
	err = wal_reserve(e->wal, batch->data.size, 0);
	return err == -ENOSPC ? 0 : err < 0 ? err : 1;
}

int engine_log_room(struct engine *e, const struct batch *batch)
{
	bool frees;
	int room;

	assert(e->wal && batch->count > 0);
	if (wal_has_room(e->wal, batch->data.size) &&
	    arena_with(e, batch) <= e->arena_room)
		return 0;
	room = look(e, batch);
	if (room != 0)
		return room < 0 ? room : 0;
	frees = engine_frees_space(batch);
	room = frees ? room_to_free(e, batch) : 0;
	if (room == 0) {
		if (flush_all(e, frees) < 0)
			err_clear();
		room = look(e, batch);
	}
	if (room == 0 && frees)
		room = room_to_free(e, batch);
	if (room == 0) {
		atomic_store(&e->room_wanted, true);
		engine_wake(e);
		return fail(ENOSPC,
			    "%s: the rest of the disk is kept for moving what "
			    "is in the log to ssts; delete something or make "
			    "space",
			    e->volume->path);
	}
	return room < 0 ? room : 0;
}
