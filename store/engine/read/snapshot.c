#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/large/blob_verify.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/read/sources.h"
#include "store/format/sst/sst_iter.h"
#include "store/format/sst/sst_verify.h"

/* Snapshots, rules, figures: what others ask of a running engine. */

int engine_snapshot(struct engine *e, struct engine_snapshot **out)
{
	struct engine_snapshot *s = malloc(sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	*s = (struct engine_snapshot){ .pending = NULL };
	pthread_mutex_lock(&e->lock);
	s->seq = atomic_load(&e->visible_seq);
	s->gc_time_us = engine_gc_time(e);
	s->older = e->newest;
	if (e->newest)
		e->newest->newer = s;
	else
		e->oldest = s;
	e->newest = s;
	pthread_mutex_unlock(&e->lock);
	return 0;
}

void engine_snapshot_release(struct engine *e, struct engine_snapshot *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&e->lock);
	if (s->older)
		s->older->newer = s->newer;
	else
		e->oldest = s->newer;
	if (s->newer)
		s->newer->older = s->older;
	else
		e->newest = s->older;
	pthread_mutex_unlock(&e->lock);
	free(s);
}

uint64_t engine_snapshot_seq(const struct engine_snapshot *s)
{
	return s->seq;
}

void engine_set_rules(struct engine *e, struct gc_rules *rules)
{
	struct gc_rules *old;

	pthread_mutex_lock(&e->lock);
	old = e->rules;
	e->rules = gc_rules_get(rules);
	pthread_mutex_unlock(&e->lock);
	gc_rules_put(old);
}

void engine_on_work(struct engine *e, void (*wake)(void *context),
		    void *context)
{
	e->wake_context = context;
	e->wake = wake;
}

static void blob_stats(struct engine *e, const struct version *v,
		       uint64_t flushed_seq, struct store_stats *out)
{
	uint64_t *live = malloc((v->blob_count + 1) * sizeof(*live));
	size_t i;

	if (live)
		version_blob_live(v, live);
	for (i = 0; i < v->blob_count; i++) {
		uint64_t size = atomic_load(&v->blobs[i]->size);
		bool settled;

		pthread_mutex_lock(&e->lock);
		settled = v->blobs[i]->named_seq <= flushed_seq;
		pthread_mutex_unlock(&e->lock);
		out->blob_count++;
		out->blob_size += size;
		if (settled && live && size > live[i])
			out->blob_garbage += size - live[i];
	}
	free(live);
}

void engine_stats(struct engine *e, struct store_stats *out)
{
	struct cache_stats cache = cache_stats(e->cache);
	uint64_t flushed_seq = atomic_load(&e->flushed_seq);
	struct version *v;
	size_t i;

	*out = (struct store_stats){ 0 };
	pthread_mutex_lock(&e->sync);
	out->log_size = e->wal ? wal_size(e->wal) : 0;
	pthread_mutex_lock(&e->edits);
	for (i = 0; i < e->manifest->log_count; i++)
		out->log_size += e->manifest->logs[i].final_size;
	pthread_mutex_unlock(&e->edits);
	pthread_mutex_unlock(&e->sync);
	pthread_mutex_lock(&e->lock);
	for (i = 0; i < LEVEL_COUNT; i++) {
		out->sst_count[i] = e->version->levels[i].count;
		out->sst_size[i] = e->version->levels[i].size;
	}
	v = version_get(e->version);
	out->memtable_count = 1 + e->immutable_count;
	out->memtable_used = e->memtable->arena.used;
	for (i = 0; i < e->immutable_count; i++)
		out->memtable_used += e->immutables[i]->arena.used;
	pthread_mutex_unlock(&e->lock);
	blob_stats(e, v, flushed_seq, out);
	version_put(v);
	out->blob_size += atomic_load(&e->blobs->size);
	out->cache_used = cache.used_size;
	out->cache_hits = cache.hit_count;
	out->cache_misses = cache.miss_count;
	out->flush_count = atomic_load(&e->counters.flushes);
	out->compaction_count = atomic_load(&e->counters.compactions);
	out->trivial_move_count = atomic_load(&e->counters.trivial_moves);
	out->written_size = atomic_load(&e->counters.written_size);
	out->compacted_size = atomic_load(&e->counters.compacted_size);
	out->write_count = atomic_load(&e->counters.writes);
	out->sync_count = atomic_load(&e->counters.syncs);
	out->visible_seq = atomic_load(&e->visible_seq);
}

struct verification {
	void (*report)(void *context, const char *problem);
	void *context;
	size_t problem_count;
	int error; /* the first that is no damage, such as -EIO; 0 */
	char error_detail[600];
};

static void tell(void *context, int err)
{
	struct verification *v = context;
	char problem[1200];

	v->problem_count++;
	if (v->error == 0 && -err < ERR_BASE) {
		v->error = err;
		snprintf(v->error_detail, sizeof(v->error_detail), "%s",
			 err_detail());
	}
	snprintf(problem, sizeof(problem), "%s: %s", err_detail(),
		 err_text(err));
	v->report(v->context, problem);
}

/* The large values of the entries of it, which it closes; or err. */
static void verify_large(struct verification *v, const struct version *version,
			 int err, struct iter *it)
{
	if (err == 0) {
		err = blob_verify(version, it, tell, v);
		iter_close(it);
	}
	if (err < 0)
		tell(v, err);
}

static void verify_file(struct verification *v, const struct version *version,
			const struct sst_file *f)
{
	struct iter *it = NULL;
	int err = sst_verify(f->sst);

	if (err < 0)
		tell(v, err);
	if (err < 0 || sst_properties(f->sst)->blob_count == 0)
		return;
	err = sst_iter_new(f->sst, false, &it);
	verify_large(v, version, err, it);
}

/* What is not in an sst yet; of that, the log holds a copy. */
static void verify_memtables(struct verification *v, struct engine *e)
{
	struct sources s;
	struct iter *it = NULL;
	size_t i;
	int err;

	sources_take(e, NULL, &s);
	for (i = 0; i < s.memtable_count; i++) {
		err = memtable_iter_new(s.memtables[i], &it);
		verify_large(v, s.version, err, it);
	}
	sources_close(&s);
}

/* On a sorted level the next file begins after the one before it ends. */
static void verify_order(struct verification *v, const struct volume *volume,
			 unsigned int level, const struct sst_file *left,
			 const struct sst_file *right)
{
	int order = bytes_compare(left->largest, right->smallest);

	if (order > 0 || (order == 0 && !left->largest_exclusive))
		tell(v, fail(ERR_manifest_damaged,
			     "%s: level %u: sst %016llx overlaps %016llx",
			     volume->path, level, (unsigned long long)left->id,
			     (unsigned long long)right->id));
}

int engine_verify(struct engine *e,
		  void (*report)(void *context, const char *problem),
		  void *context)
{
	struct verification v = { .report = report, .context = context };
	struct version *version;
	unsigned int i;
	size_t j;

	pthread_mutex_lock(&e->lock);
	version = version_get(e->version);
	pthread_mutex_unlock(&e->lock);
	for (i = 0; i < LEVEL_COUNT; i++) {
		const struct level *level = &version->levels[i];

		for (j = 0; j < level->count; j++) {
			verify_file(&v, version, level->files[j]);
			if (i > 0 && j > 0)
				verify_order(&v, e->volume, i,
					     level->files[j - 1],
					     level->files[j]);
		}
	}
	version_put(version);
	verify_memtables(&v, e);
	if (v.error < 0)
		return fail(-v.error, "%s", v.error_detail);
	if (v.problem_count > 0)
		return fail(ERR_check_failed, "%s: %zu problems",
			    e->volume->path, v.problem_count);
	return 0;
}
