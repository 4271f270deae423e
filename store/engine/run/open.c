#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/history.h"
#include "store/engine/core/state.h"
#include "store/engine/core/tell.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/follow/follow.h"
#include "store/engine/log/wal_read.h"
#include "store/engine/large/blob_recover.h"
#include "store/engine/run/open.h"
#include "store/engine/run/hold.h"
#include "store/engine/run/room.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/engine/run/unit.h"
#include "store/engine/run/write.h"

/*
 * Opening: take the lease, read the manifest, replay the logs into a memtable,
 * begin a new log; to read, share the lease, and begin none. What was replayed
 * stays in the memtable with its logs kept, so that opening costs little,
 * unless a log was not closed cleanly or there are many: then it is flushed,
 * because only an sst is known to be durable.
 *
 * Sequences tell whether the logs are whole: each record goes on where the one
 * before it, or the last flush, ended. A bulk load has one sequence, of which
 * the log holds a mark; if the power failed between the load and its mark, the
 * ssts tell it, or the manifest, if they have gone.
 *
 * Until engine_open returns there is one thread, so what the locks protect is
 * used without them here.
 */
static_assert(offsetof(struct engine, owner) == 0,
	      "a file's owner is cast to the engine");

/* A memtable is to take one byte in so many of the disk, or so many bytes. */
#define MEMTABLE_SHARE 8
#define MEMTABLE_MIN (UINT64_C(2) << 20)

void engine_options_init(struct engine_options *o)
{
	*o = (struct engine_options){
		.memtable_size = 32 << 20,
		.cache_size = 64 << 20,
		.shared_size = 48 << 20,
		.file_size = 32 << 20,
		.blob_threshold = 64 << 10,
		.blob_chunk_size = 1 << 20,
		.blob_file_size = 64 << 20,
		.blob_flush_size = 128 << 20,
		.level0_trigger = 4,
		.level0_slow = 36,
		.level0_stop = 52,
		.clock = &clock_real,
		.steady = &clock_steady,
		.events = EVENTS_MAIN,
		.events_fd = -1,
	};
}

/* Called with the last reference on an obsolete file, by whichever thread lets
 * go of it, which does not hold lock. A reader must not wait for the removal,
 * so it is left to engine_step. */
static void note_unused(struct engine *e, const struct unused_file *file)
{
	struct unused_file *grown;
	size_t capacity;

	pthread_mutex_lock(&e->lock);
	if (e->unused_count == e->unused_capacity) {
		capacity = e->unused_capacity * 2 + 16;
		grown = realloc(e->unused, capacity * sizeof(*grown));
		if (grown) {
			e->unused = grown;
			e->unused_capacity = capacity;
		}
	}
	/* Without memory the file stays until the next open removes it. */
	if (e->unused_count < e->unused_capacity) {
		e->unused[e->unused_count] = *file;
		e->unused[e->unused_count++].since_us =
			clock_now(&clock_steady);
	}
	pthread_mutex_unlock(&e->lock);
	engine_wake(e);
}

/* A file that no version holds any more: noted, removed by engine_step. */
static void sst_unused(struct file_owner *owner, uint64_t id, uint64_t size)
{
	note_unused((struct engine *)owner,
		    &(struct unused_file){ id, size, "sst", 0 });
}

static void blob_unused(struct file_owner *owner, uint64_t id, uint64_t size)
{
	note_unused((struct engine *)owner,
		    &(struct unused_file){ id, size, "blob", 0 });
}

/* What replaying the logs finds. */
struct recovery {
	struct engine *e;
	size_t log_count;               /* of logs that the manifest names */
	const struct manifest_log *log; /* the one under way */
	struct wal_replay result;       /* of it, so far */
	uint64_t promised;    /* bytes of it that were known durable */
	bool promise_known;   /* promised is set, as a first record needed it */
	uint64_t durable_seq; /* of the last record that was known durable */
	bool torn;            /* a log was not closed cleanly */
	uint64_t lost_load;   /* sequence of the first bulk load without a mark;
				0 */
};

/* Finds how far the log under way was known durable. */
static int find_promise(struct recovery *r)
{
	char name[VOLUME_NAME_MAX + 1];
	int err;

	if (r->promise_known)
		return 0;
	manifest_name(r->log->id, "log", name);
	err = wal_promised(r->e->volume, name, r->log->id, r->log->final_size,
			   &r->promised);
	r->promise_known = err == 0;
	return err;
}

/* Whether the large values of a record are there: 0; 1 if not, and the log ends
 * before the record; negative if it was durable, so that they are damaged, or
 * they cannot be read. */
static int check_blobs(struct recovery *r, const struct batch *batch)
{
	char name[VOLUME_NAME_MAX + 1];
	bool synced;
	int err = find_promise(r);

	if (err < 0)
		return err;
	manifest_name(r->log->id, "log", name);
	/* The record begins at good_size. What is durable ends with a record,
	 * so this one is durable as a whole or not. */
	synced = r->result.good_size < r->promised;
	err = blob_check_record(r->e, batch, synced);
	if (err > 0 && synced)
		return fail(ERR_wal_damaged,
			    "%s/%s: the record after offset %llu refers to a "
			    "large value that is not there",
			    r->e->volume->path, name,
			    (unsigned long long)r->result.good_size);
	return err;
}

/* Whether the manifest names a log, sst or blob file with this id; ids are of
 * files, whatever their kind. */
static bool is_live(const struct manifest *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->log_count; i++)
		if (m->logs[i].id == id)
			return true;
	return version_sst(m->current, id) || version_blob(m->current, id) ||
	       version_past(m->current, id);
}

/* Of a former life's file that is no part of the store: whether who follows it
 * may read it, so that its grace begins now. Its size counted then. */
static bool may_be_read(struct engine *e, uint64_t id, const char *suffix)
{
	bool is_sst = strcmp(suffix, "sst") == 0;

	if (!is_sst && strcmp(suffix, "blob") != 0)
		return false;
	note_unused(e,
		    &(struct unused_file){ id, 0, is_sst ? "sst" : "blob", 0 });
	return true;
}

/* Removes a file of a former life that the manifest does not name: one that was
 * under way, or obsolete, when that ended. Those of this life are in use. A
 * file that cannot be removed harms nobody, and the next opening tries it
 * again. */
static int remove_orphan(void *context, const char *name)
{
	struct engine *e = context;
	const char *suffix;
	uint64_t id;

	if (!manifest_parse_name(name, &id, &suffix) ||
	    id >> 32 >= e->manifest->epoch || is_live(e->manifest, id))
		return 0;
	if (e->options.reader_grace_us > 0 && may_be_read(e, id, suffix))
		return 0;
	if (e->volume->ops->remove(e->volume, name) < 0)
		err_clear();
	else
		event_add(&e->events, EVENTS_ALL, "removed %s=%s", suffix,
			  file_stem(id).text);
	return 0;
}

/* On a full disk what a former life left behind becomes the held room that it
 * had taken. Else that waits until all logs are read: of a damaged store a
 * repair may want it. */
static int room_of_orphans(struct engine *e)
{
	int err = e->volume->ops->list(e->volume, remove_orphan, e);

	if (err == 0 && engine_keep_room(e) < 0)
		err_clear();
	return err;
}

/*
 * Goes on with an empty memtable that holds at least batch. The full one is
 * flushed at once, so that opening takes no more memory than the store may,
 * however much there was in the log. That is safe before the log's end is
 * known: what replay has passed stays. Who only reads cannot flush; he takes
 * memtables that double, for all of the log.
 */
static int next_memtable(struct engine *e, const struct batch *batch)
{
	size_t need = memtable_need(batch);
	size_t size = e->options.read_only
			      ? engine_unflushed_size(e, e->immutable_count)
			      : e->options.memtable_size;
	struct memtable *fresh;
	int err;

	if (size < need)
		size = need;
	if (size > UINT32_MAX)
		return fail(ERR_wal_malformed, "%s: log record of %zu bytes",
			    e->volume->path, batch->data.size);
	if (e->immutable_count == IMMUTABLES_MAX)
		return fail(ENOMEM,
			    "%s: too much log to replay for reading only; "
			    "open it for writing once",
			    e->volume->path);
	err = memtable_new(size, &fresh);
	if (err < 0)
		return err;
	memtable_count(fresh, e->memory);
	fresh->log_id = e->log_id;
	e->immutables[e->immutable_count++] = e->memtable;
	e->memtable = fresh;
	atomic_store(&e->visible_seq, e->written_seq);
	if (e->options.read_only)
		return 0;
	err = engine_flush_oldest(e);
	if (err != -ENOSPC)
		return err;
	err = room_of_orphans(e);
	return err < 0 ? err : engine_flush_oldest(e);
}

/* Says where the record is that err is about; returns err. */
static int damaged_record(struct recovery *r, int err)
{
	char name[VOLUME_NAME_MAX + 1];

	manifest_name(r->log->id, "log", name);
	return fail(-err, "%s/%s: the record after offset %llu: %s",
		    r->e->volume->path, name,
		    (unsigned long long)r->result.good_size, err_detail());
}

/* Who only reads makes nothing durable, and a power cut may take back what was
 * not: notes whether the record up to e->written_seq was. */
static int note_durable(struct recovery *r)
{
	int err = find_promise(r);

	if (err == 0 && r->result.good_size < r->promised)
		r->durable_seq = r->e->written_seq;
	return err;
}

/* Applies one log record, for wal_replay, whose results these are: 0, 1 if the
 * log is to end before it, or an error. */
static int replay_record(void *context, struct bytes record)
{
	struct recovery *r = context;
	struct engine *e = r->e;
	struct batch batch;
	uint64_t seq;
	int err, fits;

	err = batch_parse(record, r->result.is_old, &batch, &seq);
	if (err < 0)
		return damaged_record(r, err);
	/* A log may serve two memtables of which one was flushed. */
	if (seq + batch.count - 1 <= e->manifest->last_seq)
		return 0;
	if (seq != e->written_seq + 1)
		return damaged_record(
			r, fail(ERR_wal_damaged,
				"it has sequence %llu after %llu; records are "
				"missing, see tabletfs check",
				(unsigned long long)seq,
				(unsigned long long)e->written_seq));
	if (batch.blob_count > 0) {
		err = check_blobs(r, &batch);
		if (err == 0)
			err = blob_name(e, &batch, seq + batch.count - 1);
		if (err != 0)
			return err;
	}
	fits = memtable_reserve(e->memtable, &batch);
	if (fits == 0) {
		err = next_memtable(e, &batch);
		if (err < 0)
			return err;
		fits = memtable_reserve(e->memtable, &batch);
	}
	if (fits < 0)
		return fits;
	memtable_apply(e->memtable, &batch, seq);
	e->written_seq = seq + batch.count - 1;
	return e->options.read_only ? note_durable(r) : 0;
}

/* Replays one log into the memtable; meanwhile e->log_id is its id, for
 * memtables that begin. */
static int replay_log(struct recovery *r, const struct manifest_log *log)
{
	uint64_t start = event_now(&r->e->events);
	char name[VOLUME_NAME_MAX + 1];
	int err;

	manifest_name(log->id, "log", name);
	r->log = log;
	r->promise_known = false;
	r->e->log_id = log->id;
	if (r->e->memtable->log_id == 0)
		r->e->memtable->log_id = log->id;
	err = wal_replay(r->e->volume, name, log->id, log->final_size,
			 replay_record, r, &r->result);
	if (err == -ENOENT)
		return fail(ERR_wal_damaged, "%s/%s: is missing",
			    r->e->volume->path, name);
	if (err < 0)
		return err;
	event_add(&r->e->events, EVENTS_MAIN,
		  "replayed log=%s records=%llu bytes=%llu cut_bytes=%llu "
		  "closed=%d us=%llu",
		  file_stem(log->id).text,
		  (unsigned long long)r->result.record_count,
		  (unsigned long long)r->result.good_size,
		  (unsigned long long)r->result.cut_size,
		  log->final_size > 0 || r->result.finished,
		  (unsigned long long)event_since(&r->e->events, start));
	if (r->result.cut_size > 0)
		err = buf_printf(&r->e->recovery_text,
				 "%s/%s: %s %llu bytes of an unfinished write "
				 "at offset %llu\n",
				 r->e->volume->path, name,
				 r->e->options.read_only ? "passed over"
							 : "cut",
				 (unsigned long long)r->result.cut_size,
				 (unsigned long long)r->result.good_size);
	/* What was replayed of it may be in no file after the next power
	 * cut. */
	if (log->final_size == 0 && !r->result.finished)
		r->torn = true;
	return err;
}

/* Begins this process's log. The memtable of replayed records keeps the id of
 * the oldest log that it needs. */
static int begin_log(struct engine *e)
{
	struct edit edit = EDIT_INIT;
	int err;

	assert(!e->wal);
	err = engine_new_log(e, &e->log_id, &e->wal);
	if (err < 0)
		return err;
	if (e->memtable->log_id == 0)
		e->memtable->log_id = e->log_id;
	err = edit_add_log(&edit, e->log_id, 0);
	if (err == 0)
		err = engine_apply(e, &edit);
	edit_release(&edit);
	return err;
}

/* With nothing replayed the old logs are not needed. */
static int drop_empty_logs(struct engine *e)
{
	struct edit edit = EDIT_INIT;
	int err;

	assert(e->memtable->last_seq == 0 && e->immutable_count == 0);
	e->memtable->log_id = e->log_id;
	err = engine_drop_logs(e, &edit, e->log_id, NULL);
	edit_release(&edit);
	return err;
}

/* The last bulk loads were made, the first of them with sequence first, but
 * their marks in the log were lost: the new log gets them, before anything with
 * a later sequence. They need no sync: if they are lost once more, the ssts
 * tell it once more. */
static int mark_loads(struct engine *e, uint64_t first)
{
	struct batch mark = BATCH_INIT;
	int err = batch_mark(&mark);

	if (err == 0 && memtable_reserve(e->memtable, &mark) == 0)
		err = engine_flush(e);
	e->unmarked_seq = first;
	if (err == 0)
		err = engine_log_marks(e);
	if (err == 0)
		memtable_apply(e->memtable, &mark, e->written_seq);
	batch_release(&mark);
	return err;
}

/* Goes on to write after all logs are replayed. */
static int resume(struct recovery *r)
{
	struct engine *e = r->e;
	int err = begin_log(e);

	if (err == 0 && r->lost_load > 0)
		err = mark_loads(e, r->lost_load);
	if (err == 0 && (r->torn || r->log_count >= LOGS_KEPT_MAX ||
			 e->immutable_count > 0)) {
		err = engine_flush(e);
		if (err == -ENOSPC && (err = room_of_orphans(e)) == 0)
			err = engine_flush(e);
	}
	if (err == 0 && e->memtable->last_seq == 0 && r->log_count > 0)
		err = drop_empty_logs(e);
	if (err == 0)
		err = e->volume->ops->list(e->volume, remove_orphan, e);
	return err;
}

/* Replays all logs. The list is copied: flushes meanwhile forget those that are
 * done. */
static int replay_logs(struct recovery *r)
{
	size_t size = r->log_count * sizeof(struct manifest_log), i;
	struct manifest_log *logs = malloc(size + 1);
	int err = logs ? 0 : -ENOMEM;

	if (err == 0 && size > 0)
		memcpy(logs, r->e->manifest->logs, size);
	for (i = 0; i < r->log_count && err == 0; i++)
		err = replay_log(r, &logs[i]);
	free(logs);
	return err;
}

/* Brings e from what the manifest says to what the store was. Read-only, it
 * stays with that and needs no log. */
static int recover(struct engine *e)
{
	struct recovery r = { .e = e, .log_count = e->manifest->log_count };
	uint64_t loaded;
	int err;

	e->written_seq = r.durable_seq = e->manifest->last_seq;
	atomic_store(&e->flushed_seq, e->manifest->last_seq);
	e->gc_time_us = e->manifest->gc_time_us;
	e->version = version_get(e->manifest->current);
	err = memtable_new(e->options.read_only ? e->options.memtable_size
						: engine_arena_size(e),
			   &e->memtable);
	if (err == 0)
		memtable_count(e->memtable, e->memory);
	if (err == 0)
		err = history_begin(e);
	/* Before the first flush: what its ssts refer to must be durable. */
	if (err == 0 && !e->options.read_only)
		err = blob_recover(e);
	if (err == 0)
		err = replay_logs(&r);
	/* Ssts that were flushed have none beyond the manifest's last_seq. */
	loaded = version_largest_seq(e->version);
	if (loaded < e->manifest->given_seq)
		loaded = e->manifest->given_seq;
	if (loaded > e->written_seq) {
		r.lost_load = e->written_seq + 1;
		e->written_seq = r.durable_seq = loaded;
		event_add(&e->events, EVENTS_MAIN,
			  "loads_recovered first_seq=%llu last_seq=%llu",
			  (unsigned long long)r.lost_load,
			  (unsigned long long)loaded);
	}
	gaps_note_any(&e->gaps, e->written_seq);
	atomic_store(&e->visible_seq, e->written_seq);
	/* Who writes flushes what is not known durable before all else. */
	atomic_store(&e->synced_seq,
		     e->options.read_only ? r.durable_seq : e->written_seq);
	history_recovered(e);
	if (err < 0 || e->options.read_only)
		return err;
	return resume(&r);
}

/* On a small disk memtables are small, too: there is room to merge what they
 * leave, and for their logs. */
static void fit_disk(struct engine *e)
{
	struct volume_space space;
	uint64_t share;

	if (e->volume->ops->space(e->volume, &space) < 0) {
		err_clear();
		return;
	}
	share = space.total_size / MEMTABLE_SHARE;
	share = share < MEMTABLE_MIN ? MEMTABLE_MIN : share;
	if (share < e->options.memtable_size)
		e->options.memtable_size = share;
}

/* An engine with its locks, which engine_abandon ends; NULL without memory. */
static struct engine *engine_new(struct volume *v,
				 const struct engine_options *o)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->owner.unused = sst_unused;
	e->owner.unused_blob = blob_unused;
	e->volume = v;
	e->options = *o;
	pthread_mutex_init(&e->commit, NULL);
	pthread_mutex_init(&e->work, NULL);
	pthread_mutex_init(&e->sync, NULL);
	pthread_mutex_init(&e->edits, NULL);
	pthread_mutex_init(&e->rests.lock, NULL);
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->progress, NULL);
	pthread_cond_init(&e->synced, NULL);
	gaps_init(&e->gaps, o->gap_steps);
	fit_disk(e);
	return e;
}

/* So that what opening replaces becomes a piece where one is missing. A store
 * that is made comes first, before room for it. -ERR_store_exists if it is to
 * be fresh, and is not. */
static int hold_early(struct engine *e)
{
	struct buf root = BUF_INIT;
	uint64_t version;
	int err = e->volume->ops->root_get(e->volume, &version, &root);

	buf_release(&root);
	if (err == 0 && e->options.fresh)
		return fail(ERR_store_exists, "%s: holds a store already",
			    e->volume->path);
	if (err < 0 || engine_keep_room(e) < 0)
		err_clear();
	return 0;
}

/* Writes what opening told. If that cannot be written for another reason than a
 * full disk, somebody has to know. */
static int begin_events(struct engine *e, uint64_t start_us)
{
	int err;

	if (e->options.read_only)
		return 0;
	tell_opened(e, start_us);
	err = event_log_write(&e->events);
	if (err < 0 && err != -ENOSPC && err != -EDQUOT)
		err = buf_printf(&e->recovery_text, "%s\n", err_detail());
	else
		err = 0;
	err_clear();
	return err;
}

/* Of who writes the store, or reads it with nobody writing. */
static int own(struct engine *e)
{
	const struct engine_options *o = &e->options;
	struct volume *v = e->volume;
	int err;

	err = o->read_only ? v->ops->lease_share(v)
			   : v->ops->lease_take(v, o->holder ? o->holder : "",
						engine_lost, e);
	if (err < 0)
		return err;
	e->lease = true;
	err = o->read_only ? 0 : hold_early(e);
	if (err == 0)
		err = manifest_open(v, e->cache, &e->owner, o->create,
				    o->read_only, &e->manifest);
	return err == 0 ? recover(e) : err;
}

int engine_open(struct volume *v, const struct engine_options *o,
		struct engine **out)
{
	struct engine *e = engine_new(v, o);
	uint64_t start;
	int err;

	assert(o->clock);
	assert(o->level0_trigger > 0 && o->level0_slow <= o->level0_stop);
	*out = NULL;
	if (!e)
		return -ENOMEM;
	err = event_log_init(&e->events, v, o->clock, !o->read_only,
			     o->events_fd);
	if (err < 0)
		goto abandon;
	atomic_store(&e->events.level, o->events);
	start = event_now(&e->events);
	err = blobs_new(&e->blobs);
	if (err < 0)
		goto abandon;
	err = cache_new(o->cache_size, &e->cache);
	if (err == 0)
		err = memory_new(o->shared_size, &e->memory);
	if (err < 0)
		goto abandon;
	err = o->follow ? follow_begin(e) : own(e);
	if (err < 0)
		goto abandon;
	pace_version(e, e->version);
	pace_waiting(e, e->immutable_count);
	if (!o->read_only) {
		if (engine_hold_room(e, 0) < 0)
			err_clear();
		engine_room_look(e);
	}
	err = begin_events(e, start);
	if (err < 0)
		goto abandon;
	*out = e;
	return 0;

abandon:
	engine_abandon(e);
	return err;
}

const char *engine_recovery_text(const struct engine *e)
{
	return e->recovery_text.data ? (const char *)e->recovery_text.data : "";
}
