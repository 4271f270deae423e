#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store/base/err.h"
#include "store/base/probe.h"
#include "store/engine/compact/pick.h"
#include "store/engine/compact/pick_dead.h"
#include "store/engine/core/history.h"
#include "store/engine/core/space.h"
#include "store/engine/core/tell.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blob_gc.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/hold.h"
#include "store/engine/run/covered.h"
#include "store/engine/run/dead.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/engine/run/unit.h"

/*
 * Background work, one unit at a call: flush the oldest waiting memtable, or
 * else run the most urgent compaction, or else drop or empty blob files, and
 * remove files that nobody reads.
 */

/* Each level below the first one used may be so many times as large as the one
 * above it; that one begins at so many files. */
#define FAN_OUT 10
#define BASE_FILES 8

/* Runs what pick picks, and tells why; NULL: for the shape of its level. 1, 0
 * if that is nothing, or an error. Needs work. */
static int run_picked(struct engine *e, const char *why,
		      int (*pick)(struct engine *e, struct version *v,
				  const struct compaction_options *o,
				  struct compaction *out))
{
	struct compaction_options options = {
		.level0_trigger = e->options.level0_trigger,
		.base_size = BASE_FILES * e->options.file_size,
		.fan_out = FAN_OUT,
		.writing = !atomic_load(&e->at_rest),
	};
	struct version *v = engine_version(e);
	struct compaction c;
	int err;

	err = pick(e, v, &options, &c);
	if (err == 1) {
		err = engine_merge(e, v, &c,
				   why           ? why
				   : c.level > 0 ? "size"
						 : "level0");
		compaction_release(&c);
		if (err == 0)
			err = 1;
	}
	version_put(v);
	return err;
}

/* compact_pick as run_picked calls it. */
static int most_urgent(struct engine *e, struct version *v,
		       const struct compaction_options *o,
		       struct compaction *out)
{
	(void)e;
	return compact_pick(v, o, out);
}

/* Collects blob files: first those that need no more than forgetting. 1 if
 * there was something to do, 0 if not, or an error. Needs work. */
static int collect_blobs(struct engine *e)
{
	int err = blob_drop_unused(e);

	return err == 0 ? run_picked(e, "garbage", blob_pick) : err;
}

/* As collect_blobs, of less garbage, when nobody writes. */
static int free_dead_blobs(struct engine *e)
{
	int err;

	if (!atomic_load(&e->idle) || !blob_is_dead(e, BLOB_DEAD_SHARE))
		return 0;
	err = blob_end_growing(e, BLOB_DEAD_SHARE, true);
	if (err == 0)
		err = blob_drop_unused(e);
	return err == 0 ? run_picked(e, "garbage", blob_pick_dead) : err;
}

int engine_trim_history(struct engine *e)
{
	int err;

	pthread_mutex_lock(&e->work);
	do
		err = history_trim(e);
	while (err > 0);
	if (err == 0)
		err = blob_end_growing(e, BLOB_DEAD_SHARE, false);
	if (err == 0)
		err = blob_drop_unused(e);
	pthread_mutex_unlock(&e->work);
	return err < 0 ? err : 0;
}

/* The file that is the longest unused, unless who follows the store may need it
 * yet and that counts; without grace, the last one. Needs lock. */
static struct unused_file take_unused(struct engine *e, bool now)
{
	uint64_t grace_us = e->options.reader_grace_us;
	struct unused_file file = { 0 };

	/* What the manifest says by now is not known after an error. */
	if (e->unused_count == 0 || atomic_load(&e->error) != 0)
		return file;
	if (grace_us == 0 || now)
		return e->unused[--e->unused_count];
	if (clock_now(&clock_steady) - e->unused[0].since_us < grace_us)
		return file;
	file = e->unused[0];
	e->unused_count--;
	memmove(e->unused, e->unused + 1, e->unused_count * sizeof(*e->unused));
	return file;
}

int engine_remove_unused(struct engine *e, bool now)
{
	struct unused_file file;

	pthread_mutex_lock(&e->lock);
	file = take_unused(e, now);
	pthread_mutex_unlock(&e->lock);
	if (file.id == 0)
		return 0;
	/* So that what its blocks take in the cache is free for others. */
	cache_forget(e->cache, file.id);
	engine_remove(e, file.id, file.suffix);
	event_add(&e->events, EVENTS_ALL, "removed %s=%s bytes=%llu",
		  file.suffix, file_stem(file.id).text,
		  (unsigned long long)file.size);
	atomic_fetch_sub(&e->owner.obsolete_size, file.size);
	return 1;
}

/* Whether there was any. */
static bool remove_all_unused(struct engine *e)
{
	bool any = false;

	while (engine_remove_unused(e, false) > 0)
		any = true;
	return any;
}

/* All that lies above the lowest level goes down, if some of it deletes. */
static int pick_deletions(struct engine *e, struct version *v,
			  const struct compaction_options *o,
			  struct compaction *out)
{
	unsigned int level;
	size_t i;

	(void)e;
	(void)o;
	*out = (struct compaction){ 0 };
	for (level = 0; level + 1 < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count; i++) {
			const struct sst_properties *p =
				sst_properties(v->levels[level].files[i]->sst);

			if (p->delete_count + p->tombstone_count > 0)
				return compact_pick_range(v, BYTES_NONE,
							  BYTES_NONE, out);
		}
	return 0;
}

/* What may supersede much of what lies below it, while there is room to merge
 * it. */
static int pick_upper(struct engine *e, struct version *v,
		      const struct compaction_options *o,
		      struct compaction *out)
{
	struct volume_space space;
	int err = e->volume->ops->space(e->volume, &space);

	(void)o;
	*out = (struct compaction){ 0 };
	if (err < 0)
		return err;
	return compact_pick_upper(v, space.available_size, out);
}

/* What was kept for readers that have gone. */
static int pick_held(struct engine *e, struct version *v,
		     const struct compaction_options *o, struct compaction *out)
{
	struct volume_space space;
	uint64_t oldest_seq;
	int err = e->volume->ops->space(e->volume, &space);

	(void)o;
	*out = (struct compaction){ 0 };
	if (err < 0)
		return err;
	pthread_mutex_lock(&e->lock);
	oldest_seq = e->oldest ? e->oldest->seq : UINT64_MAX;
	pthread_mutex_unlock(&e->lock);
	return compact_pick_held(v, oldest_seq, space.available_size, out);
}

/* Gives back what is dead, if engine_tick has asked for it: as tidy. */
static int free_dead(struct engine *e)
{
	int err;

	if (!atomic_exchange(&e->dead_wanted, false))
		return 0;
	err = engine_drop_dead(e);
	if (err == 0)
		err = run_picked(e, "dead", engine_pick_dead);
	if (err == 0)
		err = free_dead_blobs(e);
	if (err != 0)
		atomic_store(&e->dead_wanted, true);
	return err;
}

/* Brings levels into shape, and blob files: 1 if there was something to do, 0
 * if not, or an error. Needs work. */
static int tidy(struct engine *e)
{
	int err;

	/* Before files of a dropped table are moved or merged. */
	if (atomic_exchange(&e->rules_changed, false)) {
		err = engine_drop_dead(e);
		if (err != 0) {
			atomic_store(&e->rules_changed, true);
			return err;
		}
	}
	if (atomic_exchange(&e->history_wanted, false)) {
		err = history_trim(e);
		if (err != 0) {
			atomic_store(&e->history_wanted, true);
			return err;
		}
	}
	/* In turn, or beside steady writers what is dead never has one. */
	e->dead_turn = !e->dead_turn;
	err = e->dead_turn ? free_dead(e) : 0;
	if (err == 0)
		err = run_picked(e, NULL, most_urgent);
	if (err == 0)
		err = collect_blobs(e);
	return err == 0 && !e->dead_turn ? free_dead(e) : err;
}

/* Gives back what range tombstones cover, by little room or none: as tidy.
 * Needs work. */
static int free_covered(struct engine *e)
{
	struct version *v = engine_version(e);
	struct compaction c;
	bool more;
	int err;

	err = engine_free_covered(e, v, &more, &c);
	if (err == 1) {
		err = engine_merge(e, v, &c, "room");
		compaction_release(&c);
		more = true;
	}
	version_put(v);
	return err == 0 && more ? 1 : err;
}

/* Gives back what was deleted, though no level has grown too large: 1, 0 if
 * nothing more is found, or an error; that is failed, of a flush or of tidy,
 * unless it helped. Needs work. */
static int free_room(struct engine *e, int failed)
{
	int err = history_trim(e);

	if (err == 0)
		err = free_covered(e);
	if (err == 0 || err == -ENOSPC)
		err = blob_end_growing(e, BLOB_DEAD_SHARE, false);
	if (err == 0)
		err = blob_drop_unused(e);
	if (err > 0 || (err < 0 && err != -ENOSPC))
		return err;
	err = failed < 0 ? failed : tidy(e);
	if (err != 0)
		return err;
	atomic_store(&e->room_wanted, false);
	err = run_picked(e, "room", engine_pick_dead);
	if (err == 0)
		err = run_picked(e, "room", pick_deletions);
	if (err == 0)
		err = run_picked(e, "room", pick_upper);
	if (err == 0)
		err = run_picked(e, "room", pick_held);
	if (err == 0)
		err = run_picked(e, "room", blob_pick_dead);
	/* Until nothing more is found. */
	if (err > 0)
		atomic_store(&e->room_wanted, true);
	return err;
}

/* Whether the memtable has large values, or much, which may supersede what came
 * before, and the disk still has what data leaves of it: where others have
 * taken that, the pieces are for deletions. */
static bool may_supersede(struct engine *e)
{
	struct volume_space space;

	if (atomic_load(&e->fresh_large) == 0 &&
	    arena_used(&e->memtable->arena) < SPACE_MEMTABLE_MIN)
		return false;
	if (e->volume->ops->space(e->volume, &space) == 0)
		return engine_space_left(&space);
	err_clear();
	return false;
}

/* Whether the memtable is to be flushed for the room that its deletions give
 * back, or what else supersedes something. Beside a background, whose steps
 * follow each other closely, each second once, or there would be many small
 * files. Needs commit. */
static bool is_rotation_due(struct engine *e)
{
	struct timespec now;

	if (memtable_first_delete(e->memtable) == UINT64_MAX &&
	    !may_supersede(e))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (e->wake && now.tv_sec == e->rotated_s)
		return false;
	e->rotated_s = now.tv_sec;
	/* As long as there are pieces for more. */
	return engine_hold_room(e, arena_used(&e->memtable->arena)) == 0;
}

/* On a full disk what only the memtable supersedes frees nothing: it goes to
 * those that wait. Whoever has commit may be waiting for this, so that is not
 * waited for. */
static void rotate_for_room(struct engine *e)
{
	bool due;

	pthread_mutex_lock(&e->lock);
	due = (e->trouble == -ENOSPC || atomic_load(&e->room_wanted)) &&
	      e->immutable_count == 0;
	pthread_mutex_unlock(&e->lock);
	if (!due || pthread_mutex_trylock(&e->commit) != 0)
		return;
	/* Where that fails the work goes on, or says why it cannot. */
	if (is_rotation_due(e))
		engine_rotate(e, 0);
	pthread_mutex_unlock(&e->commit);
}

void engine_write_events(struct engine *e)
{
	char detail[1024]; /* as err.c has it */

	/* What the caller may be failing of is what is to be told. */
	snprintf(detail, sizeof(detail), "%s", err_detail());
	if (event_log_write(&e->events) < 0)
		fail(EIO, "%s", detail);
}

/* Without a background, which would do it: no writer waits for this that did
 * not do the work itself. */
static void write_events_alone(struct engine *e)
{
	if (!e->wake)
		engine_write_events(e);
}

int engine_step(struct engine *e)
{
	int err;

	if (e->options.read_only)
		return 0;
	rotate_for_room(e);
	pthread_mutex_lock(&e->work);
	err = atomic_load(&e->error);
	if (err == 0)
		err = engine_rotate_ahead(e);
	/* Flushes first: writers wait for them, and the log's room. */
	if (err == 0)
		err = engine_flush_oldest(e);
	if (err == 0 && !atomic_load(&e->room_wanted))
		err = tidy(e);
	if (err == -ENOSPC)
		atomic_store(&e->room_wanted, true);
	if ((err == 0 || err == -ENOSPC) && atomic_load(&e->room_wanted))
		err = free_room(e, err);
	/* After a failure too: its reason may be that they are there. */
	if (remove_all_unused(e) && err == 0)
		err = 1;
	pthread_mutex_unlock(&e->work);
	if (err == 0)
		engine_room_idle(e);
	if (err < 0)
		engine_work_failed(e, err);
	write_events_alone(e);
	return err;
}

int engine_flush_waiting(struct engine *e)
{
	size_t waiting;
	int err;

	for (;;) {
		pthread_mutex_lock(&e->lock);
		waiting = e->immutable_count;
		pthread_mutex_unlock(&e->lock);
		if (waiting == 0)
			return 0;
		err = engine_step(e);
		if (err < 0)
			return err;
	}
}

int engine_flush(struct engine *e)
{
	int err = engine_writable(e);

	/* First those, so that failures do not make them more. */
	if (err == 0)
		err = engine_flush_waiting(e);
	if (err < 0)
		return err;
	pthread_mutex_lock(&e->commit);
	err = engine_writable(e);
	if (err == 0 && e->memtable->last_seq > 0)
		err = engine_rotate(e, 0);
	pthread_mutex_unlock(&e->commit);
	return err < 0 ? err : engine_flush_waiting(e);
}

int engine_flush_deletions(struct engine *e)
{
	bool any;

	pthread_mutex_lock(&e->lock);
	any = memtable_first_delete(e->memtable) != UINT64_MAX;
	pthread_mutex_unlock(&e->lock);
	return any ? engine_flush(e) : 0;
}

/* While writers pay for what the background owes, every other turn is for them.
 * 1 if something was done, 0, or an error. Needs work. */
static int help_writers(struct engine *e)
{
	e->asked_turn = !e->asked_turn;
	if (!e->asked_turn || atomic_load(&e->pace.debt) <= PACE_STOP / 2)
		return 0;
	return run_picked(e, NULL, most_urgent);
}

/* One step of a compaction of [start, end): down to the lowest level, then what
 * is there with an id before before, then blob files. 1, 0 if all is done, or
 * an error. */
static int compact_range_step(struct engine *e, struct bytes start,
			      struct bytes end, uint64_t before)
{
	struct compaction c;
	struct version *v;
	int err;

	pthread_mutex_lock(&e->work);
	err = help_writers(e);
	if (err != 0)
		goto unlock;
	v = engine_version(e);
	err = compact_pick_range(v, start, end, &c);
	if (err == 0)
		err = compact_pick_bottom(v, start, end, before, &c);
	if (err == 1) {
		err = engine_merge(e, v, &c, "asked");
		compaction_release(&c);
		if (err == 0)
			err = 1;
	}
	version_put(v);
	if (err == 0)
		err = blob_drop_unused(e);
	if (err == 0)
		err = run_picked(e, "garbage", blob_pick_asked);
unlock:
	/* As it goes, or it would need twice the space. */
	remove_all_unused(e);
	pthread_mutex_unlock(&e->work);
	write_events_alone(e);
	return err;
}

int engine_compact_range(struct engine *e, struct bytes start, struct bytes end)
{
	uint64_t before;
	int err;

	err = engine_flush(e);
	if (err == 0)
		err = blob_finish(e);
	/* What is in the lowest level already is written anew, too, and loses
	 * its garbage; files made from here on have lost theirs. */
	before = engine_new_id(e);
	if (err == 0)
		do {
			err = compact_range_step(e, start, end, before);
		} while (err > 0);
	if (err < 0)
		return engine_work_failed(e, err);
	/* That is for who asked: it is no trouble of the background. */
	pthread_mutex_lock(&e->work);
	err = blob_left_out(e);
	pthread_mutex_unlock(&e->work);
	return err;
}
