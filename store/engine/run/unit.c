#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/base/probe.h"
#include "store/engine/compact/pick.h"
#include "store/engine/compact/pick_dead.h"
#include "store/engine/core/history.h"
#include "store/engine/core/tell.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blob_gc.h"
#include "store/engine/large/blobs.h"
#include "store/engine/read/rest.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/run/covered.h"
#include "store/engine/run/hold.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/sync.h"
#include "store/engine/run/unit.h"

/*
 * A unit works on a version that it holds, without a lock that readers or
 * writers need; what it made becomes known by one edit. Until that is applied
 * the unit can fail and nothing has happened, but that some files are to be
 * removed again.
 */

/* Files of merges are such a part of all, and at least of the full size. */
#define OUTPUTS 32
#define OUTPUT_SHARE 8

/* What a context points to, and nobody else owns. */
struct merge_parts {
	uint64_t *snapshots, *snapshot_us;
	struct rules_seen rules;
	struct moment *history;
	uint64_t *readers;
};

static void merge_parts_release(struct merge_parts *p)
{
	free(p->snapshots);
	free(p->snapshot_us);
	rules_seen_release(&p->rules);
	free(p->history);
	free(p->readers);
}

/* Takes snapshots and rules; needs lock. 0 or -ENOMEM. */
static int take_parts(struct engine *e, struct merge_parts *p)
{
	const struct engine_snapshot *s;
	size_t count = 1;
	int err;

	for (s = e->oldest; s; s = s->newer)
		count++;
	*p = (struct merge_parts){
		.snapshots = malloc(count * sizeof(*p->snapshots)),
		.snapshot_us = malloc(count * sizeof(*p->snapshot_us)),
	};
	err = p->snapshots && p->snapshot_us ? rules_seen_locked(e, &p->rules)
					     : -ENOMEM;
	if (err < 0) {
		free(p->snapshots);
		free(p->snapshot_us);
	}
	return err;
}

/* Sequences of both, ascending, each once, into readers. */
static size_t join_readers(const struct merge_context *c, uint64_t *readers)
{
	size_t i = 0, j = 0, count = 0;
	uint64_t seq, at;

	while (i < c->snapshot_count || j < c->history_count) {
		seq = i < c->snapshot_count ? c->snapshots[i] : UINT64_MAX;
		at = j < c->history_count ? c->history[j].seq : UINT64_MAX;
		i += seq <= at;
		j += at <= seq;
		at = at < seq ? at : seq;
		if (count == 0 || readers[count - 1] < at)
			readers[count++] = at;
	}
	return count;
}

/* Of which moments m the merge is to keep what they see. 0 or -ENOMEM. */
static int take_history(struct merge_context *c, struct merge_parts *parts,
			const struct moments *m)
{
	uint64_t now_us = c->snapshot_us[c->snapshot_count - 1];
	uint64_t visible = c->snapshots[c->snapshot_count - 1];
	size_t count = m->count;

	/* While logs are replayed there are later ones, which see what is
	 * there; no rules are known then that could hide it. */
	while (count > 0 && m->items[count - 1].seq > visible)
		count--;
	if (count == 0)
		return 0;
	parts->history = malloc((count + 1) * sizeof(*parts->history));
	parts->readers = malloc((count + 1 + c->snapshot_count) *
				sizeof(*parts->readers));
	if (!parts->history || !parts->readers)
		return -ENOMEM;
	memcpy(parts->history, m->items, count * sizeof(*m->items));
	if (m->items[count - 1].seq < visible)
		parts->history[count++] =
			(struct moment){ now_us, visible, 0, 0, 0 };
	c->history = parts->history;
	c->history_count = count;
	c->readers = parts->readers;
	c->reader_count = join_readers(c, parts->readers);
	return 0;
}

/* The live snapshots, the present as the last, into parts and c. Needs lock. */
static void take_snapshots(struct engine *e, struct merge_context *c,
			   struct merge_parts *parts)
{
	const struct engine_snapshot *s;
	size_t count = 0;

	for (s = e->oldest; s; s = s->newer) {
		parts->snapshots[count] = s->seq;
		parts->snapshot_us[count++] = s->gc_time_us;
	}
	parts->snapshots[count] = atomic_load(&e->visible_seq);
	parts->snapshot_us[count++] = e->merged_us = engine_gc_time(e);
	c->snapshots = parts->snapshots;
	c->snapshot_us = parts->snapshot_us;
	c->snapshot_count = count;
}

/* What a merge may go by, as of this moment: live snapshots and the GC times
 * that they go by, the rules. *parts, which c points to, is to be
 * released, but not after a failure. */
static int merge_context(struct engine *e, struct merge_context *c,
			 struct merge_parts *parts)
{
	const struct gc_rules *oldest_rules;
	struct moments *moments;
	int err;

	*c = (struct merge_context){
		.volume = e->volume,
		.file_size = e->options.file_size,
		.rows = e->options.rows,
		.new_id = engine_new_id,
		.new_id_context = e,
	};
	history_turn(e, clock_now(e->options.clock));
	/* One lock around all: a snapshot taken later sees no less than the
	 * visible sequence does here. */
	pthread_mutex_lock(&e->lock);
	err = take_parts(e, parts);
	if (err < 0) {
		pthread_mutex_unlock(&e->lock);
		return err;
	}
	moments = moments_get(e->moments);
	take_snapshots(e, c, parts);
	/* A family whose rules have not changed since the oldest snapshot has
	 * the same ones in all of them. */
	c->rules = parts->rules.items[0];
	c->moments = parts->rules.items + 1;
	c->moment_count = parts->rules.count - 1;
	oldest_rules = e->oldest ? e->oldest->rules : e->rules;
	c->rules_seq = oldest_rules ? oldest_rules->seq : 0;
	c->above_seq = UINT64_MAX;
	c->above_us = UINT64_MAX;
	pthread_mutex_unlock(&e->lock);
	err = take_history(c, parts, moments);
	moments_put(moments);
	c->no_room = c->history_count > 0 && history_has_no_room(e);
	if (err < 0)
		merge_parts_release(parts);
	return err;
}

/* The latest GC time that a merge goes by: what has expired by it may be gone,
 * so it must stay so. */
static uint64_t latest_us(const struct merge_context *c)
{
	return c->snapshot_us[c->snapshot_count - 1];
}

/* What moments up to the visible sequence see is in history files by that
 * sequence, and so no crash may take it back and give it again. */
static int sync_history(struct engine *e, const struct edit *edit)
{
	bool is_open;

	if (edit->past_count == 0)
		return 0;
	/* All may be too much now. */
	atomic_store(&e->history_wanted, true);
	/* While logs are replayed, what is visible is flushed by this. */
	pthread_mutex_lock(&e->sync);
	is_open = e->wal;
	pthread_mutex_unlock(&e->sync);
	return is_open ? engine_sync(e) : 0;
}

/* There is no room for history: whether there was any, so that the merge is to
 * be tried without. It goes before anything else does. */
static bool give_way(struct engine *e, struct merge_context *c,
		     struct edit *edit)
{
	if (c->history_count == 0 ||
	    history_give_up(e, c->snapshots[c->snapshot_count - 1]) < 0)
		return false;
	edit_release(edit);
	c->history_count = 0;
	return true;
}

/* A deletion with this sequence and of this GC time, or later ones, may lie
 * where the merge does not see it. */
static void not_above(struct merge_context *c, uint64_t seq, uint64_t us)
{
	if (seq < c->above_seq)
		c->above_seq = seq;
	if (us < c->above_us)
		c->above_us = us;
}

static void not_above_memtable(struct merge_context *c,
			       const struct memtable *m)
{
	uint64_t seq = memtable_first_delete(m);

	if (seq != UINT64_MAX)
		not_above(c, seq, atomic_load(&m->delete_us));
}

/* Deletions in memtables lie above every sst, those in later ones above that
 * which is flushed. What comes after context was taken is newer than its
 * snapshots, and of no earlier GC time. */
static void not_above_memtables(struct engine *e, struct merge_context *c,
				const struct memtable *flushed)
{
	size_t i;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < e->immutable_count; i++)
		if (e->immutables[i] != flushed)
			not_above_memtable(c, e->immutables[i]);
	not_above_memtable(c, e->memtable);
	pthread_mutex_unlock(&e->lock);
}

int engine_drop_logs(struct engine *e, struct edit *edit, uint64_t oldest_log,
		     struct memtable *flushed)
{
	uint64_t *ids;
	size_t count = 0, i;
	int err;

	/* Their ids are noted first, as the manifest forgets them. */
	pthread_mutex_lock(&e->edits);
	ids = malloc((e->manifest->log_count + 1) * sizeof(*ids));
	for (i = 0; ids && i < e->manifest->log_count; i++)
		if (e->manifest->logs[i].id < oldest_log)
			ids[count++] = e->manifest->logs[i].id;
	pthread_mutex_unlock(&e->edits);
	if (!ids)
		return -ENOMEM;
	assert(oldest_log > 0);
	edit->oldest_log = oldest_log;
	err = engine_apply_flush(e, edit, flushed);
	for (i = 0; err == 0 && i < count; i++) {
		engine_remove(e, ids[i], "log");
		event_add(&e->events, EVENTS_ALL, "removed log=%s",
			  file_stem(ids[i]).text);
	}
	free(ids);
	return err;
}

/* Of an edit that was not applied; not if it may be durable all the same. */
static void remove_outputs(struct engine *e, const struct edit *edit)
{
	size_t i;

	if (atomic_load(&e->error) != 0)
		return;
	for (i = 0; i < edit->added_count; i++)
		engine_remove(e, edit->added[i].id, "sst");
	for (i = 0; i < edit->past_count; i++)
		engine_remove(e, edit->pasts[i]->id, "sst");
}

/* The file of v that an edit has added; NULL: it has gone since. */
static struct sst_file *added_file(const struct version *v,
				   const struct manifest_file *added)
{
	const struct level *level = &v->levels[added->level];
	size_t i;

	for (i = 0; i < level->count; i++)
		if (level->files[i]->id == added->id)
			return level->files[i];
	return NULL;
}

/* Bytes of a file, with the large values that it refers to. */
static uint64_t whole_size(const struct sst_file *f)
{
	return f->size + sst_file_blob_size(f);
}

/* Whether what c has written anew for readers that have gone, size bytes, is
 * little less than what it was: what it still keeps others see, or nobody
 * keeps anything. */
static bool was_in_vain(const struct compaction *c, uint64_t size)
{
	uint64_t before = 0;
	size_t i, side;

	for (side = 0; side < 2; side++)
		for (i = 0; i < c->input_count[side]; i++)
			before += whole_size(c->inputs[side][i]);
	return size > before - before / DEAD_SHARE;
}

/* The GC time by which nothing that ages was left of f, which a merge by c has
 * written: that of the oldest who sees any of it. */
static uint64_t aged_us(const struct merge_context *c, const struct sst_file *f)
{
	size_t i = 0;

	while (i + 1 < c->snapshot_count && c->snapshots[i] < f->smallest_seq)
		i++;
	return c->snapshot_us[i];
}

/* Notes of the files that edit has added by context, of c unless it is a flush:
 * by what time they were rid of what had expired, and that they delete nothing
 * at a time before delete_us. Needs work. */
static void note_added(struct engine *e, const struct edit *edit,
		       const struct merge_context *context,
		       const struct compaction *c, uint64_t delete_us)
{
	size_t i, count = context->snapshot_count;
	struct version *v = engine_version(e);
	struct sst_file *f;
	uint64_t size = 0;
	bool clean;

	for (i = 0; i < edit->added_count; i++) {
		f = added_file(v, &edit->added[i]);
		size += f ? whole_size(f) : 0;
	}
	clean = count < 2 || (c && c->for_held && was_in_vain(c, size));
	for (i = 0; i < edit->added_count; i++) {
		f = added_file(v, &edit->added[i]);
		if (!f)
			continue;
		f->gc_time_us = c ? aged_us(context, f) : 0;
		f->delete_us = delete_us;
		f->is_clean = clean;
		f->held_seq = clean ? 0 : context->snapshots[count - 2];
	}
	version_put(v);
}

/* Where outputs are cut. */
static void use_guards(struct engine *e, struct merge_context *c)
{
	c->guards = e->guards.keys;
	c->guard_count = e->guards.count;
}

/* Where the flush is cut: not elsewhere while a merge goes by the guards. */
static int cut_flush(struct engine *e, struct merge_context *c)
{
	struct version *v;
	int err = 0;

	if (!e->guards_used) {
		v = engine_version(e);
		err = guards_choose(&e->guards, v, e->options.file_size);
		version_put(v);
	}
	use_guards(e, c);
	return err;
}

/* While a memtable is flushed the next one fills. */
static int rotate_ahead(void *context)
{
	return engine_rotate_ahead(context);
}

/* Bytes of the ssts that edit adds. */
static uint64_t added_size(const struct edit *edit)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < edit->added_count; i++)
		size += edit->added[i].size;
	return size;
}

/* What is under way, for whoever looks on. Needs work. */
static void note_work(struct engine *e, enum store_work work, uint64_t since_us)
{
	atomic_store(&e->now.work_since_us, since_us);
	atomic_store(&e->now.work, work);
}

/* Flushes the oldest waiting memtable m, which stays in place for readers until
 * the ssts are; between the edit and the moment it goes, a reader may be given
 * both. Logs before oldest_log are of no use any more then. m may be empty, if
 * a batch was larger than memtables are. Needs work. */
static int flush(struct engine *e, struct memtable *m, uint64_t oldest_log)
{
	struct edit edit = EDIT_INIT;
	struct merge_context context;
	struct merge_parts parts;
	uint64_t start = event_now(&e->events), delete_us, us;
	int err;

	err = merge_context(e, &context, &parts);
	if (err < 0)
		return err;
	not_above_memtables(e, &context, m);
	context.yield = rotate_ahead;
	context.yield_context = e;
	err = cut_flush(e, &context);
	if (err == 0)
		err = compact_flush(&context, m, &edit);
	if (err == -ENOSPC && give_way(e, &context, &edit))
		err = compact_flush(&context, m, &edit);
	if (err == -ENOSPC) {
		/* For this there is held room, as one file. */
		edit_release(&edit);
		context.guard_count = 0;
		context.spare_size = engine_sst_room(arena_used(&m->arena));
		err = compact_flush(&context, m, &edit);
	}
	if (err < 0)
		goto release;
	edit.last_seq = m->last_seq;
	edit.gc_time_us = latest_us(&context);
	delete_us = atomic_load(&m->delete_us);
	/* Until it is told: others may put it. */
	memtable_get(m);
	err = sync_history(e, &edit);
	if (err == 0)
		err = engine_drop_logs(e, &edit, oldest_log, m);
	if (err == 0)
		tell_flushed(e, m, &edit, start);
	us = event_since(&e->events, start);
	memtable_put(m);
	if (err < 0) {
		remove_outputs(e, &edit);
		goto release;
	}
	note_added(e, &edit, &context, NULL, delete_us);
	engine_end_rests(e);

	/* An empty memtable has no sequence. */
	if (edit.last_seq > atomic_load(&e->flushed_seq))
		atomic_store(&e->flushed_seq, edit.last_seq);
	engine_work_done(e);
	atomic_fetch_add(&e->counters.flushes, 1);
	atomic_fetch_add(&e->counters.flushed_size, added_size(&edit));
	atomic_fetch_add(&e->counters.flush_us, us);
release:
	edit_release(&edit);
	merge_parts_release(&parts);
	return err;
}

/* work keeps the memtable in place: writers add to the end of the list. */
int engine_flush_oldest(struct engine *e)
{
	enum store_work outer = atomic_load(&e->now.work);
	uint64_t outer_us = atomic_load(&e->now.work_since_us);
	struct memtable *m = NULL;
	uint64_t oldest_log = 0;
	bool is_inner;
	size_t bytes;
	int err;

	pthread_mutex_lock(&e->lock);
	if (e->immutable_count > 0) {
		/* The next memtable's first record may stand in the log that m
		 * ends in, and then that is its log. */
		m = e->immutables[0];
		oldest_log = e->immutable_count > 1 ? e->immutables[1]->log_id
						    : e->memtable->log_id;
	}
	pthread_mutex_unlock(&e->lock);
	if (!m)
		return 0;
	bytes = arena_used(&m->arena);
	PROBE(flush_begin, bytes, m->log_id);
	is_inner = pace_work_begin(e);
	note_work(e, WORK_FLUSH, event_now(&e->events));
	err = flush(e, m, oldest_log);
	note_work(e, outer, outer_us);
	pace_flushed(e);
	pace_work_end(e, is_inner);
	PROBE(flush_end, bytes, err);
	return err < 0 ? err : 1;
}

/* What a merge has made, chunks that it moved among it, is durable and then
 * named. */
static int publish_merge(struct engine *e, const struct blob_mover *mover,
			 struct edit *edit)
{
	int err = 0;

	/* Moved chunks are durable before references to them. */
	if (mover->moved) {
		err = blob_sync(e);
		if (err < 0)
			engine_sync_failed(e, err);
	}
	if (err == 0)
		err = sync_history(e, edit);
	return err < 0 ? err : engine_apply(e, edit);
}

/* Merges c's inputs and applies the edit. Chunks that the merge meets in blob
 * files full of garbage move to the present one, which is held until the edit
 * refers to it. After a failure no output is left but for those that the
 * manifest may name. */
static int merge_inputs(struct engine *e, struct version *v,
			const struct compaction *c,
			struct merge_context *context, struct edit *edit)
{
	struct blob_mover mover;
	int err = blob_mover_init(&mover, e, v, c->blob_share);

	/* What is written anew for lack of room moves nothing. */
	if (mover.source_count > 0 && c->above.count == 0) {
		context->move = blob_mover_move;
		context->move_context = &mover;
	}
	if (err == 0)
		err = compact_run(context, v, c, edit);
	if (err == 0) {
		edit->gc_time_us = latest_us(context);
		err = publish_merge(e, &mover, edit);
		/* The outputs of a trivial one are its inputs. */
		if (err < 0 && !c->trivial)
			remove_outputs(e, edit);
		else if (err == 0 && !c->trivial)
			note_added(e, edit, context, c, compact_delete_us(c));
	}
	blob_mover_release(&mover);
	return err;
}

static void count_compaction(struct engine *e, const struct compaction *c,
			     const struct edit *edit, uint64_t us)
{
	unsigned int side;
	size_t i;

	atomic_fetch_add(&e->counters.compaction_us, us);
	if (c->trivial) {
		atomic_fetch_add(&e->counters.trivial_moves, 1);
		return;
	}
	atomic_fetch_add(&e->counters.compactions, 1);
	atomic_fetch_add(&e->counters.merged_size, added_size(edit));
	for (side = 0; side < 2; side++)
		for (i = 0; i < c->input_count[side]; i++)
			atomic_fetch_add(&e->counters.compacted_size,
					 c->inputs[side][i]->size);
}

/* The target of a merge's files: small beside what there is, so that a merge
 * takes little time and little room; bytes. */
static uint64_t output_size(const struct engine *e, const struct version *v)
{
	uint64_t size = 0, most = e->options.file_size;
	unsigned int i;

	for (i = 0; i < LEVEL_COUNT; i++)
		size += v->levels[i].size;
	size /= OUTPUTS;
	if (size < most / OUTPUT_SHARE)
		size = most / OUTPUT_SHARE;
	return size < most ? size : most;
}

/* What a flush adds is newer than the merge and above it. */
int engine_yield(void *context)
{
	struct engine *e = context;
	int err = engine_rotate_ahead(e);

	while (err >= 0 && atomic_load(&e->pace.waiting) > 0)
		err = engine_flush_oldest(e);
	return err < 0 ? err : 0;
}

int engine_merge(struct engine *e, struct version *v,
		 const struct compaction *c, const char *why)
{
	struct edit edit = EDIT_INIT;
	struct merge_context context;
	struct merge_parts parts;
	uint64_t start = event_now(&e->events);
	uint64_t above_seq, above_us, us;
	bool is_inner;
	int err;

	assert(c->input_count[0] > 0);
	assert(c->output_level >= c->level && c->output_level < LEVEL_COUNT);
	err = merge_context(e, &context, &parts);
	if (err < 0)
		return err;
	PROBE(compaction_begin, c->level, c->output_level);
	is_inner = pace_work_begin(e);
	note_work(e, WORK_COMPACTION, start);
	context.file_size = output_size(e, v);
	context.yield = engine_yield;
	context.yield_context = e;
	/* So that the next merge of this part of level 0 has no more below it
	 * than belongs to it. */
	if (c->level == 0 && c->above.count == 0) {
		e->guards_used = true;
		use_guards(e, &context);
	}
	compact_above(v, c, &above_seq, &above_us);
	not_above(&context, above_seq, above_us);
	not_above_memtables(e, &context, NULL);
	err = merge_inputs(e, v, c, &context, &edit);
	if (err == -ENOSPC && give_way(e, &context, &edit))
		err = merge_inputs(e, v, c, &context, &edit);
	if (err == -ENOSPC && engine_fits_piece(e, c)) {
		edit_release(&edit);
		context.spare_size = engine_sst_room(c->rest_size);
		err = merge_inputs(e, v, c, &context, &edit);
	}
	e->guards_used = false;
	note_work(e, WORK_NONE, 0);
	pace_work_end(e, is_inner);
	PROBE(compaction_end, c->level, err);
	us = event_since(&e->events, start);
	if (err == 0) {
		tell_compacted(e, c, &edit, why, start);
		count_compaction(e, c, &edit, us);
	}
	edit_release(&edit);
	merge_parts_release(&parts);
	if (err < 0)
		return err;
	engine_end_rests(e);
	engine_work_done(e);
	return 0;
}
