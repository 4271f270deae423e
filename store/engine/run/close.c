#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/history.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/follow/follow.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/hold.h"
#include "store/engine/run/open.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/engine/run/unit.h"

/* Closing: so that the next opening has little to do. */

/* So that the next opening has nothing to replay, unless that is little, an
 * eighth of the memtable: not every closing is to make an sst. What cannot be
 * flushed is in the log. */
static void flush_for_close(struct engine *e)
{
	struct memtable *m = e->memtable;

	if ((e->immutable_count > 0 ||
	     arena_used(&m->arena) > m->arena.size / 8) &&
	    engine_flush(e) < 0)
		err_clear();
}

/* Ends the log as finished. For lack of space it stays as a kill would leave
 * it: durable, which the next opening finds out by itself. */
static int finish_log(struct engine *e)
{
	struct edit edit = EDIT_INIT;
	uint64_t size;
	int err;

	/* Whatever the clock says then, what has expired stays so. */
	pthread_mutex_lock(&e->lock);
	edit.gc_time_us = engine_gc_time(e);
	pthread_mutex_unlock(&e->lock);
	/* What was written is durable whatever becomes of the rest. */
	err = wal_sync(e->wal);
	if (err < 0)
		return err;
	err = wal_finish(e->wal, &size);
	/* So are the moments up to now. */
	if (err == 0)
		atomic_store(&e->synced_seq, e->written_seq);
	if (err == 0)
		err = edit_add_log(&edit, e->log_id, size);
	if (err == 0)
		err = engine_apply(e, &edit);
	edit_release(&edit);
	if (err == -ENOSPC && !wal_broken(e->wal) && !e->manifest->broken) {
		err_clear();
		err = 0;
	}
	return err;
}

int engine_close(struct engine *e)
{
	uint64_t start = event_now(&e->events);
	int err = 0;

	assert(!e->oldest && !e->newest && !e->past);
	if (!e->options.read_only) {
		err = engine_writable(e);
		/* Without memory it ends with the moment before. */
		if (err == 0 && history_note(e) < 0)
			err_clear();
		if (err == 0) {
			flush_for_close(e);
			err = engine_writable(e);
		}
		if (err == 0)
			err = blob_finish(e);
		if (err == 0)
			err = finish_log(e);
		engine_drop_next_log(e);
		/* The next opening would remove them, but has to list all. */
		while (err == 0 && engine_remove_unused(e, false) > 0)
			;
		/* What the next opening needs stays. */
		if (err == 0 && engine_hold_room(e, 0) < 0)
			err_clear();
		event_add(&e->events, EVENTS_MAIN, "closed err=%d us=%llu",
			  -err,
			  (unsigned long long)event_since(&e->events, start));
		engine_write_events(e);
	}
	engine_abandon(e);
	return err;
}

void engine_abandon(struct engine *e)
{
	size_t i;

	/* Any of it may be missing if the opening failed. */
	if (e->wal)
		wal_abandon(e->wal);
	wal_abandon(e->next_wal);
	if (e->memtable)
		memtable_put(e->memtable);
	for (i = 0; i < e->immutable_count; i++)
		memtable_put(e->immutables[i]);
	follow_end(e->follower);
	view_put(e->view);
	blobs_free(e->blobs);
	version_put(e->version);
	if (e->manifest)
		manifest_close(e->manifest);
	moments_put(e->moments);
	gc_rules_put(e->rules);
	if (e->cache)
		cache_free(e->cache);
	memory_free(e->memory);
	if (e->lease)
		e->volume->ops->lease_release(e->volume);
	pthread_mutex_destroy(&e->commit);
	pthread_mutex_destroy(&e->work);
	pthread_mutex_destroy(&e->sync);
	pthread_mutex_destroy(&e->edits);
	pthread_mutex_destroy(&e->rests.lock);
	pthread_mutex_destroy(&e->lock);
	gaps_release(&e->gaps);
	guards_release(&e->guards);
	pthread_cond_destroy(&e->progress);
	pthread_cond_destroy(&e->synced);
	buf_release(&e->recovery_text);
	event_log_release(&e->events);
	free(e->unused);
	free(e);
}
