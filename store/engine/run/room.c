#include <assert.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/run/room.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"

/*
 * Room on the disk. The log must not take the last of it: then it could not be
 * flushed, and what deletes, and so gives space back, could not be logged. So
 * as much is left free as the memtables would take in ssts, and some more.
 * When that is not there, what waits is flushed first, which gives back its
 * log; if that does not help, only deletions and changes to the schema are
 * taken.
 */
/* Besides the memtables: for edits, the logs that are begun, and what ssts have
 * beside entries. */
#define SPARE_SIZE (UINT64_C(1) << 20)
/* The log grows by a quarter of what is free, and no more than this, until the
 * next look: others, too, write to the disk meanwhile. */
#define LOOK_AGAIN_MAX (UINT64_C(8) << 20)

/* What must be free besides the room for batch, which counts twice, in the log
 * and in an sst. Needs commit, which keeps the present memtable as it is. */
static uint64_t reserve_size(struct engine *e)
{
	uint64_t size = SPARE_SIZE;
	size_t i;

	pthread_mutex_lock(&e->lock);
	size += arena_used(&e->memtable->arena);
	for (i = 0; i < e->immutable_count; i++)
		size += arena_used(&e->immutables[i]->arena);
	pthread_mutex_unlock(&e->lock);
	return size;
}

/* Asks the volume: 1 if batch can be logged, and sets how far the log may grow
 * until the next look; 0 if there is too little room for it, or an error. */
static int look(struct engine *e, const struct batch *batch)
{
	struct volume_space space;
	uint64_t need = reserve_size(e) + 2 * batch->data.size, more;
	int err = e->volume->ops->space(e->volume, &space);

	if (err < 0)
		return err;
	if (space.available_size < need)
		return 0;
	more = (space.available_size - need) / 4;
	assert(more <= space.available_size);
	if (more > LOOK_AGAIN_MAX)
		more = LOOK_AGAIN_MAX;
	e->log_room = wal_size(e->wal) + batch->data.size + more;
	return 1;
}

/* Whether batch holds nothing but deletions and changes to the schema, which is
 * table 0: dropping a table or a stricter policy is such a change. */
static bool gives_space_back(const struct batch *batch)
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
 * tries again with pauses, and a writer would do so without. */
static int flush_all(struct engine *e)
{
	int err = e->wake ? engine_no_room(e) : 0;

	if (err == 0)
		err = engine_flush_waiting(e);
	if (err == 0 && e->memtable->last_seq > 0)
		err = engine_rotate(e, e->options.memtable_size);
	return err < 0 ? err : engine_flush_waiting(e);
}

int engine_log_room(struct engine *e, const struct batch *batch)
{
	int room;

	assert(e->wal && batch->count > 0);
	if (wal_size(e->wal) + batch->data.size <= e->log_room)
		return 0;
	room = look(e, batch);
	if (room == 0 && gives_space_back(batch))
		return 0;
	if (room == 0) {
		if (flush_all(e) < 0)
			err_clear();
		room = look(e, batch);
	}
	if (room == 0)
		return fail(ENOSPC,
			    "%s: the rest of the disk is kept for moving what "
			    "is in the log to ssts; delete something or make "
			    "space",
			    e->volume->path);
	return room < 0 ? room : 0;
}
