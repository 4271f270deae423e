#include <assert.h>
#include <stdlib.h>

#include "store/engine/core/history.h"
#include "store/engine/core/state.h"
#include "store/engine/large/blobs.h"
#include "store/engine/read/statistics.h"

static_assert(sizeof(((struct store_stats *)0)->sst_count) ==
		      LEVEL_COUNT * sizeof(uint64_t),
	      "store/stats.h must have a place for each level");

const char *stall_word(enum stall cause)
{
	static const char *const words[STALLS] = {
		[STALL_NONE] = "",
		[STALL_MEMTABLES] = "memtables",
		[STALL_LEVEL0] = "level0",
		[STALL_ROOM] = "room",
	};

	assert(cause < STALLS);
	return words[cause];
}

/* The logs that are still needed: the one being written and the finished
 * ones. sync keeps the former from being replaced, edits keeps the list. */
static void log_stats(struct engine *e, struct store_stats *out)
{
	size_t i;

	pthread_mutex_lock(&e->sync);
	/* A store opened for reading only writes no log. */
	out->log_size = e->wal ? wal_size(e->wal) : 0;
	pthread_mutex_lock(&e->edits);
	for (i = 0; i < e->manifest->log_count; i++)
		out->log_size += e->manifest->logs[i].final_size;
	pthread_mutex_unlock(&e->edits);
	pthread_mutex_unlock(&e->sync);
}

/* Ssts and memtables of one moment; returns the version of that moment, with a
 * reference. */
static struct version *table_stats(struct engine *e, struct store_stats *out)
{
	struct version *v;
	size_t i;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < LEVEL_COUNT; i++) {
		out->sst_count[i] = e->version->levels[i].count;
		out->sst_size[i] = e->version->levels[i].size;
	}
	v = version_get(e->version);
	if (moments_oldest(e->moments))
		out->history_since_us = moments_oldest(e->moments)->time_us;
	out->history_lost_us = e->lost.until_us;
	out->memtable_count = 1 + e->immutable_count;
	out->memtable_used = arena_used(&e->memtable->arena);
	for (i = 0; i < e->immutable_count; i++)
		out->memtable_used += arena_used(&e->immutables[i]->arena);
	pthread_mutex_unlock(&e->lock);
	return v;
}

/*
 * Blob files of v. Only ssts tell what is alive, so of a file that commits in
 * memtables refer to nothing is known yet, and it counts as without garbage.
 * flushed_seq must have been read before v was taken: then the ssts of v hold
 * every commit up to it.
 */
static void blob_stats(struct engine *e, const struct version *v,
		       uint64_t flushed_seq, struct store_stats *out)
{
	uint64_t *live = malloc((v->blob_count + 1) * sizeof(*live));
	size_t i;

	if (live)
		version_blob_live(v, live);
	for (i = 0; i < v->blob_count; i++) {
		/* 0 for the one that grows, whose size blobs knows. */
		uint64_t size = atomic_load(&v->blobs[i]->size);
		bool settled;

		pthread_mutex_lock(&e->lock);
		settled = v->blobs[i]->named_seq <= flushed_seq;
		pthread_mutex_unlock(&e->lock);
		out->blob_count++;
		out->blob_size += size;
		/* What two columns share is live twice, so live may be more
		 * than there is. */
		if (settled && live && size > live[i])
			out->blob_garbage += size - live[i];
	}
	free(live);
	out->history_count = v->past_count;
	out->history_size = history_size(v);
	if (v->past_count > 0)
		out->history_large_size = history_large_size(v);
	out->blob_size += atomic_load(&e->blobs->size);
	out->obsolete_size = atomic_load(&e->owner.obsolete_size);
	out->loading_size = atomic_load(&e->loading_size);
}

/* Who holds how much. The cache has counters of its own. */
static void memory_stats(struct engine *e, struct store_stats *out)
{
	struct cache_stats cache = cache_stats(e->cache);
	int i;

	for (i = 0; i < MEMORY_ACCOUNTS; i++)
		out->memory[i] = memory_used(e->memory, i);
	out->memory[MEMORY_INDEXES] = cache.reserved_size;
	out->memory[MEMORY_CACHE] = cache.used_size - cache.reserved_size;
	out->memory[MEMORY_TOMBSTONES] = cache.held_size;
	out->memory_limit = memory_limit(e->memory);
}

static void counter_stats(struct engine *e, struct store_stats *out)
{
	struct cache_stats cache = cache_stats(e->cache);

	out->cache_used = cache.used_size;
	out->cache_hits = cache.hit_count;
	out->cache_misses = cache.miss_count;
	out->flush_count = atomic_load(&e->counters.flushes);
	out->compaction_count = atomic_load(&e->counters.compactions);
	out->trivial_move_count = atomic_load(&e->counters.trivial_moves);
	out->written_size = atomic_load(&e->counters.written_size);
	out->compacted_size = atomic_load(&e->counters.compacted_size);
	out->flushed_size = atomic_load(&e->counters.flushed_size);
	out->merged_size = atomic_load(&e->counters.merged_size);
	out->flush_us = atomic_load(&e->counters.flush_us);
	out->compaction_us = atomic_load(&e->counters.compaction_us);
	out->write_count = atomic_load(&e->counters.writes);
	out->sync_count = atomic_load(&e->counters.syncs);
	out->visible_seq = atomic_load(&e->visible_seq);
}

/* How the background and the writers that depend on it get on. */
static void pace_stats(struct engine *e, struct store_stats *out)
{
	const struct event_log *clock = &e->events;
	unsigned int i;

	for (i = 0; i < STALLS; i++) {
		out->stall_count[i] = atomic_load(&e->counters.stalls[i]);
		out->stall_us[i] = atomic_load(&e->counters.stall_us[i]);
	}
	out->slowed_us = atomic_load(&e->counters.slowed_us);
	out->stalled = atomic_load(&e->now.stalled);
	if (out->stalled != STALL_NONE)
		out->stalled_us = event_since(
			clock, atomic_load(&e->now.stalled_since_us));
	out->debt = (double)atomic_load(&e->pace.debt) / PACE_STOP;
	out->depth = atomic_load(&e->pace.depth);
	out->work = atomic_load(&e->now.work);
	if (out->work != WORK_NONE)
		out->work_us =
			event_since(clock, atomic_load(&e->now.work_since_us));
}

void engine_stats(struct engine *e, struct store_stats *out)
{
	uint64_t flushed_seq = atomic_load(&e->flushed_seq);
	struct version *v;

	*out = (struct store_stats){ 0 };
	log_stats(e, out);
	v = table_stats(e, out);
	blob_stats(e, v, flushed_seq, out);
	version_put(v);
	memory_stats(e, out);
	counter_stats(e, out);
	pace_stats(e, out);
}

const struct histogram *engine_sync_times(struct engine *e)
{
	return &e->counters.sync_times;
}

struct memory *engine_memory(struct engine *e)
{
	return e->memory;
}
