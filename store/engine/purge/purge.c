#include <assert.h>
#include <errno.h>

#include "store/base/err.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/compact/read_back.h"
#include "store/engine/large/blob_gc.h"
#include "store/engine/purge/blob_use.h"
#include "store/engine/purge/erase_file.h"
#include "store/engine/purge/forget.h"
#include "store/engine/purge/purge.h"
#include "store/engine/run/step.h"
#include "store/engine/run/sync.h"
#include "store/engine/run/unit.h"
#include "store/engine/read/rest.h"

/* So often it is tried to empty the blob files to which someone has referred
 * anew meanwhile. */
#define ROUNDS_MAX 8

struct purging {
	struct engine *e;
	const struct erase_range *ranges;
	size_t count;
	uint64_t seq;       /* what is newer stays */
	uint64_t before_id; /* files of large values from here on are new */
	struct purge_result *result;
};

/* One round: what it writes anew, of a version that it holds. */
struct round {
	struct purging *p;
	struct version *version;
	struct erasing erasing;
	struct blob_use use;
	struct blob_mover mover;
	struct erase_how how;
	struct erase_counts counts;
	struct edit edit;
	uint64_t need_size; /* bytes of files that are to be written anew */
	size_t files, past_files;
	bool writes; /* else it only reckons what that needs */
};

/* All that was written before the call is in files, and no log has it. */
static int flush_all(struct engine *e)
{
	uint64_t log_id;
	bool gone;
	int err;

	pthread_mutex_lock(&e->commit);
	log_id = e->log_id + (e->memtable->last_seq > 0);
	pthread_mutex_unlock(&e->commit);
	err = engine_flush(e);
	if (err < 0)
		return err;
	pthread_mutex_lock(&e->edits);
	gone = e->manifest->log_count == 0 || e->manifest->logs[0].id >= log_id;
	pthread_mutex_unlock(&e->edits);
	return gone ? 0
		    : fail(EBUSY, "%s: a log is still in use; say it again",
			   e->volume->path);
}

/* Whether t, with these shares, is to be written anew: 1, 0 or an error. */
static int is_due(const struct round *r, struct sst *t,
		  const struct blob_share *shares, size_t count)
{
	if (blob_use_is_dirty(&r->use, shares, count))
		return 1;
	return erase_is_in(&r->erasing, t);
}

/* Whether all of t goes, so that nothing of it is written. */
static bool goes_whole(const struct round *r, const struct sst *t)
{
	const struct sst_properties *p = sst_properties(t);
	size_t i = erasing_find(&r->erasing, p->smallest);

	return i < r->erasing.count && p->largest_seq <= r->erasing.seq &&
	       sst_seq(t) <= r->erasing.seq &&
	       bytes_compare(r->erasing.ranges[i].start, p->smallest) <= 0 &&
	       bytes_compare(p->largest, r->erasing.ranges[i].end) <= 0;
}

static int rewrite_sst(struct round *r, unsigned int level, struct sst_file *f)
{
	const struct sst_properties *p = sst_properties(f->sst);
	uint64_t id, size;
	int err = is_due(r, f->sst, p->blobs, p->blob_count);

	if (err <= 0)
		return err;
	r->need_size += goes_whole(r, f->sst) ? 0 : f->size;
	r->counts.size += f->size;
	r->files++;
	if (!r->writes)
		return 0;
	r->how.level = level;
	err = erase_file(&r->how, f->sst, &id, &size);
	if (err == 0)
		err = edit_remove_file(&r->edit, level, f->id);
	if (err == 0 && id > 0)
		err = edit_add_file(&r->edit, level, id, size);
	return err;
}

/* Adds a history file that was written in the place of old. */
static int add_past(struct round *r, const struct past_file *old, uint64_t id)
{
	struct past_facts facts;
	uint64_t size;
	struct sst *sst;
	int err = compact_open(r->p->e->volume, id, &size, &sst);

	if (err < 0)
		return err;
	past_facts_of(sst, id, size, 0, old->facts->visible_seq, &facts);
	err = edit_add_past(&r->edit, &facts);
	sst_close(sst);
	return err;
}

static int rewrite_past(struct round *r, struct past_file *f)
{
	const struct past_facts *facts = f->facts;
	uint64_t id, size;
	struct sst *sst;
	int err;

	if (!blob_use_is_dirty(&r->use, facts->blobs, facts->blob_count) &&
	    !erasing_touches(&r->erasing, facts->smallest, facts->largest))
		return 0;
	err = past_file_open(f, &sst);
	if (err == 0)
		err = is_due(r, sst, facts->blobs, facts->blob_count);
	if (err <= 0)
		return err;
	r->need_size += goes_whole(r, sst) ? 0 : facts->size;
	r->counts.size += facts->size;
	r->past_files++;
	if (!r->writes)
		return 0;
	r->how.level = sst_properties(sst)->level;
	err = erase_file(&r->how, sst, &id, &size);
	if (err == 0)
		err = edit_drop_past(&r->edit, facts->id);
	if (err == 0 && id > 0)
		err = add_past(r, f, id);
	return err;
}

/* Each file that is due: writes it anew, or reckons what that needs. */
static int rewrite_all(struct round *r, bool writes)
{
	struct version *v = r->version;
	unsigned int level;
	size_t i;
	int err = 0;

	r->writes = writes;
	r->counts = (struct erase_counts){ 0 };
	r->files = r->past_files = 0;
	r->need_size = r->use.live_size;
	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count && err == 0; i++)
			err = rewrite_sst(r, level, v->levels[level].files[i]);
	for (i = 0; i < v->past_count && err == 0; i++)
		err = rewrite_past(r, v->pasts[i]);
	return err;
}

/* -ENOSPC if what is written anew has no room beside what there is. */
static int check_room(const struct round *r)
{
	struct engine *e = r->p->e;
	struct volume_space space;
	int err = e->volume->ops->space(e->volume, &space);

	if (err < 0 || r->need_size <= space.available_size)
		return err;
	return fail(ENOSPC,
		    "%s: to write files anew takes up to %llu bytes, and %llu "
		    "are free; make room and say it again",
		    e->volume->path, (unsigned long long)r->need_size,
		    (unsigned long long)space.available_size);
}

/* Chunks leave the dirty files: what could not be read is tried again. */
static void use_mover(struct round *r)
{
	size_t i;

	for (i = 0; i < r->use.dirty_count; i++)
		r->use.dirty[i]->stuck = false;
	r->mover = (struct blob_mover){ .e = r->p->e,
					.version = r->version,
					.sources = r->use.dirty,
					.source_count = r->use.dirty_count };
	r->how = (struct erase_how){ .engine = r->p->e,
				     .erasing = &r->erasing,
				     .counts = &r->counts };
	if (r->use.dirty_count == 0)
		return;
	r->how.move = blob_mover_move;
	r->how.move_context = &r->mover;
}

/* A file with a chunk that cannot be read stays, and what else is in it. */
static int check_moved(const struct round *r)
{
	char name[VOLUME_NAME_MAX + 1];
	size_t i;

	for (i = 0; i < r->use.dirty_count; i++) {
		if (!r->use.dirty[i]->stuck)
			continue;
		manifest_name(r->use.dirty[i]->id, "blob", name);
		return fail(ERR_blob_damaged,
			    "%s/%s: a large value in it is damaged, so that "
			    "the file cannot be emptied; tabletfs check names "
			    "it",
			    r->p->e->volume->path, name);
	}
	return 0;
}

/* What was written is durable and then named. */
static int publish(struct round *r)
{
	struct engine *e = r->p->e;
	int err = check_moved(r);

	if (err == 0 && r->mover.moved) {
		err = blob_sync(e);
		if (err < 0)
			engine_sync_failed(e, err);
	}
	/* That the rows are deleted is durable before what they had goes. */
	if (err == 0)
		err = engine_sync(e);
	if (err == 0 && r->files + r->past_files > 0)
		err = engine_apply(e, &r->edit);
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

static void count_round(const struct round *r)
{
	struct purge_result *to = r->p->result;

	to->entries += r->counts.entries;
	to->files += r->files;
	to->past_files += r->past_files;
	to->size += r->counts.size;
}

/* How many of the dirty files are there still; those that are not are counted.
 */
static size_t count_left(struct round *r)
{
	struct version *v = engine_version(r->p->e);
	size_t left = 0, i;

	for (i = 0; i < r->use.dirty_count; i++) {
		if (version_blob(v, r->use.dirty[i]->id)) {
			left++;
			continue;
		}
		r->p->result->blob_files++;
		r->p->result->size += atomic_load(&r->use.dirty[i]->size);
	}
	version_put(v);
	return left;
}

static int run_round(struct round *r)
{
	struct engine *e = r->p->e;
	int err = blob_use_find(&r->use, e, &r->erasing, r->p->before_id);

	if (err == 0)
		err = rewrite_all(r, false);
	if (err == 0)
		err = check_room(r);
	if (err < 0)
		return err;
	use_mover(r);
	err = rewrite_all(r, true);
	if (err == 0)
		err = publish(r);
	if (err < 0)
		remove_outputs(e, &r->edit);
	return err;
}

/* Writes anew what is due: 1 if blob files are left that are to go, 0, or an
 * error. Needs work. */
static int purge_round(struct purging *p)
{
	struct round r = { .p = p,
			   .version = engine_version(p->e),
			   .mover = { .e = p->e },
			   .edit = EDIT_INIT };
	int err = erasing_init(&r.erasing, p->ranges, p->count, p->seq,
			       r.version);

	if (err == 0)
		err = run_round(&r);
	/* The use owns the sources. */
	r.mover.sources = NULL;
	blob_mover_release(&r.mover);
	if (err == 0) {
		count_round(&r);
		engine_end_rests(p->e);
		engine_work_done(p->e);
		err = blob_drop_unused(p->e);
	}
	if (err >= 0)
		err = count_left(&r) > 0;
	edit_release(&r.edit);
	blob_use_release(&r.use);
	erasing_release(&r.erasing);
	version_put(r.version);
	return err;
}

/* Who writes to a large value meanwhile may refer to a file anew that was to
 * be emptied; as soon as that is flushed the value can be moved. */
static int purge_rounds(struct purging *p, unsigned int wait_ms)
{
	unsigned int rounds;
	int err = 1;

	for (rounds = 0; rounds < ROUNDS_MAX && err == 1; rounds++) {
		err = rounds > 0 ? flush_all(p->e) : 0;
		pthread_mutex_lock(&p->e->work);
		if (err == 0)
			err = purge_round(p);
		if (err == 0)
			err = forget_files(p->e, wait_ms);
		pthread_mutex_unlock(&p->e->work);
	}
	return err == 1 ? fail(EBUSY,
			       "%s: large values in %s are open or being "
			       "written; say it again when they are not",
			       p->e->volume->path,
			       "files that were to be emptied")
			: err;
}

int engine_purge(struct engine *e, const struct erase_range *ranges,
		 size_t count, uint64_t seq, unsigned int wait_ms,
		 struct purge_result *r)
{
	struct purging p = { .e = e,
			     .ranges = ranges,
			     .count = count,
			     .seq = seq,
			     .result = r };
	uint64_t start = event_now(&e->events);
	int err = engine_writable(e);

	if (err < 0)
		return err;
	assert(seq <= atomic_load(&e->visible_seq));
	err = flush_all(e);
	if (err == 0)
		err = blob_finish(e);
	p.before_id = engine_new_id(e);
	if (err == 0)
		err = purge_rounds(&p, wait_ms);
	event_add(&e->events, EVENTS_MAIN,
		  "purged ssts=%llu past=%llu blobs=%llu bytes=%llu err=%d "
		  "us=%llu",
		  (unsigned long long)r->files,
		  (unsigned long long)r->past_files,
		  (unsigned long long)r->blob_files,
		  (unsigned long long)r->size, err < 0 ? err_errno(err) : 0,
		  (unsigned long long)event_since(&e->events, start));
	return err;
}
