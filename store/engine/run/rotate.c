#include <assert.h>
#include <errno.h>

#include "store/base/err.h"
#include "store/engine/core/state.h"
#include "store/engine/core/tell.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/hold.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/sync.h"

/*
 * A log ends with its memtable, so that a flush can forget whole logs. One edit
 * finishes the old log and begins the new one: the manifest never names two
 * that are being written, nor none.
 */

/* A memtable is such a part of the ssts below level 0, at least of its full
 * size, and no less than so many bytes. */
#define ARENA_SHARE 20
#define ARENA_LEAST 4
#define ARENA_SIZE_MIN ((size_t)1 << 20)

/* Finishes the log and goes on with wal, the empty log of this id, which it
 * takes over on success. After a failure that does not make the store
 * read-only, the old one goes on. Needs commit. */
static int switch_log(struct engine *e, struct wal *wal, uint64_t id)
{
	struct edit edit = EDIT_INIT;
	uint64_t size;
	int err;

	engine_sync_hold(e);
	/* The log's records refer to chunks, which must be durable before. */
	err = blob_sync(e);
	if (err < 0)
		engine_sync_failed(e, err);
	else
		err = wal_finish(e->wal, &size);
	if (wal_broken(e->wal))
		engine_poison(e, err);
	if (err == 0)
		err = edit_add_log(&edit, id, 0);
	if (err == 0)
		err = edit_add_log(&edit, e->log_id, size);
	if (err == 0)
		err = engine_apply(e, &edit);
	if (err == 0) {
		/* It is finished; only its memory is left. */
		wal_abandon(e->wal);
		e->wal = wal;
		e->log_id = id;
		/* Of the new memtable nothing has been asked yet. */
		e->arena_room = 0;
		atomic_store(&e->synced_seq, e->written_seq);
		atomic_store(&e->large_fresh, 0);
		engine_synced(e);
	}
	engine_sync_let_go(e);
	edit_release(&edit);
	return err;
}

static void drop_log(struct engine *e, struct wal *wal, uint64_t id)
{
	wal_abandon(wal);
	engine_remove(e, id, "log");
}

/* In a piece; what was made without room before, plain, is dropped then. */
static int log_from_spare(struct engine *e, uint64_t *id, struct wal **plain)
{
	uint64_t spare_id = engine_new_id(e);
	char name[VOLUME_NAME_MAX + 1];
	struct wal *wal;
	int err;

	manifest_name(spare_id, "log", name);
	err = wal_from_spare(e->volume, name, spare_id, engine_log_piece(e),
			     &wal);
	if (err < 0)
		return err;
	if (*plain)
		drop_log(e, *plain, *id);
	*plain = wal;
	*id = spare_id;
	return 0;
}

/* A new log; with spare, in a piece if there is no other room. */
static int make_log(struct engine *e, bool spare, uint64_t *id,
		    struct wal **out)
{
	char name[VOLUME_NAME_MAX + 1];
	int err;

	*id = engine_new_id(e);
	manifest_name(*id, "log", name);
	err = wal_create(e->volume, name, *id, out);
	if (err == 0)
		err = wal_reserve(*out, 0, engine_log_piece(e));
	if (err == -ENOSPC && spare) {
		err = log_from_spare(e, id, out);
		/* Without any room it still can be read. */
		if (err == -ENOSPC && *out)
			err = 0;
	}
	/* Its name is durable before the manifest says so: a log that is named
	 * there and missing is damage. */
	if (err == 0)
		err = wal_sync(*out);
	if (err < 0 && *out) {
		drop_log(e, *out, *id);
		*out = NULL;
	}
	return err;
}

int engine_new_log(struct engine *e, uint64_t *id, struct wal **out)
{
	return make_log(e, true, id, out);
}

/* The log that was made ahead, or NULL. Takes lock. */
static struct wal *take_next_log(struct engine *e, uint64_t *id)
{
	struct wal *wal;

	pthread_mutex_lock(&e->lock);
	wal = e->next_wal;
	*id = e->next_log_id;
	e->next_wal = NULL;
	pthread_mutex_unlock(&e->lock);
	return wal;
}

void engine_drop_next_log(struct engine *e)
{
	uint64_t id;
	struct wal *wal = take_next_log(e, &id);

	if (wal)
		drop_log(e, wal, id);
}

/* Where that fails the rotation tries again, and tells. */
static void make_next_log(struct engine *e)
{
	struct wal *wal;
	uint64_t id;
	bool is_there;

	pthread_mutex_lock(&e->lock);
	is_there = e->next_wal;
	pthread_mutex_unlock(&e->lock);
	if (is_there)
		return;
	if (make_log(e, false, &id, &wal) < 0) {
		err_clear();
		return;
	}
	pthread_mutex_lock(&e->lock);
	e->next_wal = wal;
	e->next_log_id = id;
	pthread_mutex_unlock(&e->lock);
}

int engine_rotate_ahead(struct engine *e)
{
	if (!atomic_exchange(&e->pace.sync_wanted, false))
		return 0;
	make_next_log(e);
	return engine_sync(e);
}

size_t engine_arena_size(struct engine *e)
{
	size_t most = e->options.memtable_size, size = 0;
	unsigned int i;

	pthread_mutex_lock(&e->lock);
	for (i = 1; i < LEVEL_COUNT; i++)
		size += e->version->levels[i].size;
	pthread_mutex_unlock(&e->lock);
	size /= ARENA_SHARE;
	if (size < most / ARENA_LEAST)
		size = most / ARENA_LEAST;
	if (size < ARENA_SIZE_MIN)
		size = ARENA_SIZE_MIN;
	return size < most ? size : most;
}

int engine_rotate(struct engine *e, size_t need)
{
	uint64_t id, old_id = e->log_id, start = event_now(&e->events);
	struct memtable *fresh;
	struct wal *wal;
	size_t used;
	int err;

	assert(e->wal);
	used = engine_arena_size(e);
	err = memtable_new(need > used ? need : used, &fresh);
	if (err < 0)
		return err;
	wal = take_next_log(e, &id);
	/* Logs are in the order of their ids. One that was being made while
	 * another rotation had to make its own is too old. */
	if (wal && id < old_id) {
		drop_log(e, wal, id);
		wal = NULL;
	}
	if (!wal)
		err = engine_new_log(e, &id, &wal);
	if (err < 0)
		goto put_fresh;
	memtable_count(fresh, e->memory);
	fresh->log_id = id;
	err = switch_log(e, wal, id);
	if (err < 0) {
		/* What the manifest may name stays. */
		if (atomic_load(&e->error) == 0)
			drop_log(e, wal, id);
		else
			wal_abandon(wal);
		goto put_fresh;
	}
	pthread_mutex_lock(&e->lock);
	assert(e->immutable_count < IMMUTABLES_MAX);
	used = arena_used(&e->memtable->arena);
	e->immutables[e->immutable_count++] = e->memtable;
	pace_waiting(e, e->immutable_count);
	e->memtable = fresh;
	pthread_mutex_unlock(&e->lock);
	event_add(&e->events, EVENTS_MAIN,
		  "rotated log=%s to=%s memtable_bytes=%zu us=%llu",
		  file_stem(old_id).text, file_stem(id).text, used,
		  (unsigned long long)event_since(&e->events, start));
	return 0;

put_fresh:
	memtable_put(fresh);
	return err;
}
