#include <assert.h>
#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/core/history_edit.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"

/* Bytes; of an arena, which takes memory only as it is used. */
#define UNFLUSHED_SIZE_MAX ((size_t)1 << 30)

/* What all parts of the engine do to its state. */

uint64_t engine_new_id(void *context)
{
	struct engine *e = context;
	uint64_t id;

	pthread_mutex_lock(&e->edits);
	id = manifest_new_id(e->manifest);
	pthread_mutex_unlock(&e->edits);
	return id;
}

struct version *engine_version(struct engine *e)
{
	struct version *v;

	pthread_mutex_lock(&e->lock);
	v = version_get(e->version);
	pthread_mutex_unlock(&e->lock);
	return v;
}

/* Takes the oldest memtable off those that wait. Needs lock. */
static void drop_oldest(struct engine *e, const struct memtable *m)
{
	size_t i;

	assert(e->immutable_count > 0 && e->immutables[0] == m);
	(void)m;
	e->immutable_count--;
	pace_waiting(e, e->immutable_count);
	for (i = 0; i < e->immutable_count; i++)
		e->immutables[i] = e->immutables[i + 1];
}

int engine_apply_flush(struct engine *e, struct edit *edit, struct memtable *m)
{
	struct version *old;
	int err;

	assert(!e->options.read_only);
	pthread_mutex_lock(&e->edits);
	err = history_complete(e, edit);
	if (err == 0)
		err = manifest_apply(e->manifest, edit);
	if (err < 0) {
		if (e->manifest->broken || err == -ERR_invariant)
			engine_poison(e, err);
		pthread_mutex_unlock(&e->edits);
		return err;
	}
	pace_version(e, e->manifest->current);
	/* Both locks, so that versions are published in the order of edits. */
	pthread_mutex_lock(&e->lock);
	old = e->version;
	e->version = version_get(e->manifest->current);
	if (e->manifest->moment_count > 0)
		e->told_us = e->manifest->moments[e->manifest->moment_count - 1]
				     .time_us;
	if (m)
		drop_oldest(e, m);
	pthread_mutex_unlock(&e->lock);
	pthread_mutex_unlock(&e->edits);
	/* Without a lock: the last reference tells of unused files, which takes
	 * lock. */
	version_put(old);
	if (m)
		memtable_put(m);
	return 0;
}

int engine_apply(struct engine *e, struct edit *edit)
{
	return engine_apply_flush(e, edit, NULL);
}

int engine_renew_edits(struct engine *e)
{
	int err;

	pthread_mutex_lock(&e->edits);
	err = manifest_renew(e->manifest);
	if (err < 0 && e->manifest->broken)
		engine_poison(e, err);
	pthread_mutex_unlock(&e->edits);
	return err;
}

void engine_remove(struct engine *e, uint64_t id, const char *suffix)
{
	char name[VOLUME_NAME_MAX + 1], detail[1024]; /* as err.c has it */

	/* What the caller may be failing of is what is to be told. */
	snprintf(detail, sizeof(detail), "%s", err_detail());
	manifest_name(id, suffix, name);
	if (e->volume->ops->remove(e->volume, name) < 0) {
		atomic_fetch_add(&e->stuck_count, 1);
		fail(EIO, "%s", detail);
	}
}

size_t engine_unflushed_size(const struct engine *e, size_t count)
{
	size_t size = e->options.memtable_size, i;

	for (i = 0; i < count && size < UNFLUSHED_SIZE_MAX; i++)
		size *= 2;
	return size < UNFLUSHED_SIZE_MAX ? size : UNFLUSHED_SIZE_MAX;
}

uint64_t engine_gc_time(struct engine *e)
{
	uint64_t now = e->gc_time_held ? 0 : clock_now(e->options.clock);

	if (now <= e->gc_time_us)
		return e->gc_time_us;
	/* A follower's clock, which may be wrong for a while, collects nothing;
	 * its owner's time comes with the edits. */
	if (!e->follower)
		e->gc_time_us = now;
	return now;
}

uint64_t engine_now(const struct engine *e)
{
	uint64_t now = clock_now(e->options.clock), seen = e->gc_time_us;

	return now > seen ? now : seen;
}
