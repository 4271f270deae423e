#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/bg.h"
#include "store/engine/core/history.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/large/blobs.h"
#include "store/engine/bulk/bulk.h"
#include "store/engine/bulk/bulk_merge.h"
#include "store/engine/bulk/bulk_puts.h"
#include "store/engine/bulk/bulk_run.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"

/*
 * From puts in memory to files that the manifest names:
 *
 *   puts      as they come, sorted when the memory is full
 *   runs      sorted files, one for each time that it was
 *   published as they are if none begins before the last one ended, which is
 *             so for sorted input; else merged once into files that do not
 *             overlap, by which each byte is written twice
 *
 * With options.beside a run is written beside whoever adds, who fills the other
 * half of the memory meanwhile; and runs are merged in two parts, one below and
 * one from a row in their middle.
 *
 * Keys are stored with sequence 0, and one is given to each file as a whole
 * when it is named. Its place in the log is taken by a mark.
 */

/* Up to this part of its memory a load goes through the log after all: it costs
 * one sync and no sst. */
#define SMALL_PART 32

struct bulk {
	struct engine *e;
	size_t memory_size;   /* of puts, more or less, at most */
	size_t spill_size;    /* of those that are spilled at a time */
	bool beside;          /* there may be a thread for its own work */
	struct puts puts;     /* of the next run */
	struct task spilling; /* while it is under way, what follows is its */
	struct puts spilled;  /* of the run that is to be written */
	struct run_writer writer; /* of what is spilled, one run at a time */
	struct run *runs;         /* in the order in which they were filled */
	size_t run_count;
	bool disordered;         /* runs overlap, so they will be merged */
	struct blob_holds holds; /* what its large values refer to */
	/* Bytes of puts and runs, which e->loading_size has, too. */
	_Atomic uint64_t counted;
};

/* So many bytes more are in the load, and so many no more. */
static void count(struct bulk *b, uint64_t more, uint64_t less)
{
	atomic_fetch_add(&b->counted, more - less);
	atomic_fetch_add(&b->e->loading_size, more - less);
}

/* It is empty. */
static void count_none(struct bulk *b)
{
	count(b, 0, atomic_load(&b->counted));
}

int bulk_new(struct engine *e, size_t memory_size, struct bulk **out)
{
	struct bulk *b = calloc(1, sizeof(*b));

	*out = b;
	if (!b)
		return -ENOMEM;
	b->e = e;
	b->memory_size = memory_size;
	b->spill_size = memory_size;
	b->beside = e->options.beside;
	/* Two at a time; no account has more than half of what all share. */
	if (b->beside && b->spill_size > memory_limit(e->memory) / 2)
		b->spill_size = memory_limit(e->memory) / 2;
	if (b->beside)
		b->spill_size /= 2;
	b->writer.e = e;
	b->writer.beside = b->beside;
	puts_init(&b->puts, e->memory);
	puts_init(&b->spilled, e->memory);
	return 0;
}

static void forget_runs(struct bulk *b)
{
	runs_release(b->runs, b->run_count);
	b->runs = NULL;
	b->run_count = 0;
}

void bulk_free(struct bulk *b)
{
	if (!b)
		return;
	task_wait(&b->spilling);
	run_writer_release(&b->writer);
	runs_remove(b->e, b->runs, b->run_count);
	forget_runs(b);
	count_none(b);
	puts_release(&b->puts);
	puts_release(&b->spilled);
	blob_release(b->e, &b->holds);
	free(b);
}

/* Writes what is spilled as a run, of each version key the put added last. */
static int write_run(void *context)
{
	struct bulk *b = context;
	struct puts *puts = &b->spilled;
	struct run_writer *o = &b->writer;
	uint64_t size = 0;
	size_t i;
	int err = 0;

	puts_sort(puts);
	if (b->run_count > 0 &&
	    bytes_compare(buf_bytes(&b->runs[b->run_count - 1].largest),
			  puts_key(puts, 0)) >= 0)
		b->disordered = true;
	/* Earlier runs were built to stay; if they are merged, that was in
	 * vain. */
	o->passing = b->disordered;
	for (i = 0; i < puts->count && err == 0; i++) {
		struct bytes key = puts_key(puts, i);

		if (i == puts->count / 2)
			err = run_writer_middle(o, key);
		/* Sorting puts the last one added first. */
		if (i > 0 && !puts->sorted &&
		    bytes_equal(key, puts_key(puts, i - 1)))
			continue;
		if (err == 0)
			err = run_writer_add(o, key, puts_kind(puts, i),
					     puts_value(puts, i));
	}
	if (err == 0)
		size = sst_build_size(o->builder);
	if (err == 0)
		err = run_writer_end(o, &b->runs, &b->run_count);
	run_writer_drop(o);
	if (err < 0)
		return err;
	count(b, size, puts->data.size);
	puts_release(puts);
	return 0;
}

/* Waits for the run that is written. One that failed is tried again here, so
 * what is told is how it is now: the disk may have room again. */
static int settle(struct bulk *b)
{
	task_wait(&b->spilling);
	return b->spilled.count > 0 ? write_run(b) : 0;
}

/* What is in memory begins to become a run, after the one before. */
static int spill(struct bulk *b)
{
	int err = settle(b);

	assert(b->puts.count > 0);
	if (err < 0)
		return err;
	b->spilled = b->puts;
	puts_init(&b->puts, b->e->memory);
	task_start(&b->spilling, b->beside, write_run, b);
	return 0;
}

/* Keeps what a large value refers to until it is published. */
static int hold(struct bulk *b, struct bytes references)
{
	struct blob_list list;
	int err = blob_list_decode(references, &list);

	if (err == 0)
		err = blob_hold(b->e, &b->holds, &list);
	blob_list_release(&list);
	return err;
}

/* Whether the memory is full for one more put. Between rows if may be, so that
 * sorted input makes files of whole rows; of other input the merge makes
 * them. */
static int is_full(struct bulk *b, struct bytes version_key, struct bytes value)
{
	struct puts *puts = &b->puts;
	int err;

	if (puts->count == 0)
		return false;
	if (!puts_take_memory(puts, version_key, value)) {
		/* The run that is written gives back what it has. */
		err = settle(b);
		if (err < 0 || !puts_take_memory(puts, version_key, value))
			return err < 0 ? err : true;
	}
	return puts_size(puts, version_key, value) > b->spill_size &&
	       (!key_same_row(version_key, buf_bytes(&puts->last)) ||
		!puts->sorted);
}

int bulk_add(struct bulk *b, struct bytes version_key, enum key_kind kind,
	     struct bytes value)
{
	size_t before;
	int err;

	assert(kind == KEY_PUT || kind == KEY_BLOB);
	err = kind == KEY_BLOB ? hold(b, value) : 0;
	if (err == 0)
		err = is_full(b, version_key, value);
	if (err > 0)
		err = spill(b);
	if (err < 0)
		return err;
	puts_take_memory(&b->puts, version_key, value);
	before = b->puts.data.size;
	err = puts_add(&b->puts, version_key, kind, value);
	count(b, b->puts.data.size - before, 0);
	return err;
}

/* Whether a memtable holds anything that the load would lie under, by the range
 * of all runs; if it cannot be told for lack of memory, it is presumed. A range
 * tombstone may reach anywhere, so any one counts. */
static bool memtable_overlaps(const struct bulk *b, struct memtable *m)
{
	struct bytes start = buf_bytes(&b->runs[0].smallest);
	struct bytes last = buf_bytes(&b->runs[b->run_count - 1].largest);
	struct iter *it;
	bool overlaps;
	int at;

	assert(b->run_count > 0);
	if (atomic_load(&m->tombstone_count) > 0)
		return true;
	if (atomic_load(&m->cell_count) == 0)
		return false;
	if (memtable_iter_new(m, &it) < 0)
		return true;
	at = iter_seek(it, start);
	overlaps = at > 0 && bytes_compare(key_version(it->key), last) <= 0;
	iter_close(it);
	return overlaps;
}

/* Flushes what is older than the load and may overlap it, or if mark has no
 * room. Needs commit. */
static int flush_overlap(struct bulk *b, const struct batch *mark)
{
	struct engine *e = b->e;
	int err = engine_flush_waiting(e);

	if (err < 0 || (!memtable_overlaps(b, e->memtable) &&
			memtable_reserve(e->memtable, mark) == 1))
		return err;
	err = engine_rotate(e, 0);
	return err < 0 ? err : engine_flush_waiting(e);
}

/* Whether f may hold a key of the range that run's keys span. */
static bool overlaps_run(const struct sst_file *f, const struct run *run)
{
	struct bytes largest = buf_bytes(&run->largest);

	/* largest lacks the trailer: what begins with it is not after it. */
	return sst_file_overlaps(f, buf_bytes(&run->smallest), BYTES_NONE) &&
	       (bytes_compare(f->smallest, largest) <= 0 ||
		bytes_starts_with(f->smallest, largest));
}

/*
 * The lowest level such that no file in it or above overlaps run. Of what
 * overlaps, the upper must be the newer, because a compaction that counts
 * versions takes it for granted that a deletion above its inputs is newer than
 * all of them.
 */
static unsigned int find_level(const struct version *v, const struct run *run)
{
	unsigned int level;
	size_t i;

	for (level = 0; level < LEVEL_COUNT; level++) {
		const struct level *l = &v->levels[level];

		i = level > 0 ? level_find(l, buf_bytes(&run->smallest)) : 0;
		for (; i < l->count; i++) {
			if (overlaps_run(l->files[i], run))
				return level > 0 ? level - 1 : 0;
			/* On a sorted level the first one tells. */
			if (level > 0)
				break;
		}
	}
	return LEVEL_COUNT - 1;
}

/* Needs commit: nothing is written to the log meanwhile. */
static int sync_log(struct engine *e)
{
	int err = engine_sync_log(e);

	return err < 0 ? engine_sync_failed(e, err) : 0;
}

/* The log gets the load's sequence, which is written_seq. A full disk is no
 * failure: the mark waits for the next write, as do those of loads after it,
 * and until then the files tell it. */
static int log_mark(struct engine *e)
{
	int err;

	if (e->unmarked_seq == 0)
		e->unmarked_seq = e->written_seq;
	err = engine_log_marks(e);
	if (err < 0 && err != -ENOSPC)
		return engine_poison(e, err);
	if (err == 0)
		err = sync_log(e);
	if (err == -ENOSPC) {
		err_clear();
		return 0;
	}
	return err;
}

/*
 * Takes the next sequence and names the files. The log is synced before that,
 * because what has a smaller sequence must not be lost while the load stays,
 * and after it, because a compaction may drop all that has the load's. If the
 * power fails in between, the files tell it. From the edit on the files are the
 * manifest's, even if it failed, unless it says that nothing happened. Needs
 * commit and work.
 */
static int name_files(struct bulk *b, struct batch *mark)
{
	struct engine *e = b->e;
	uint64_t seq = e->written_seq + 1, bytes = 0;
	size_t files = b->run_count;
	struct edit edit = EDIT_INIT;
	/* Levels stay as they are while work is held; the version may not, for
	 * large values begin and end files. */
	struct version *v = engine_version(e);
	size_t i;
	int err = 0;

	assert(b->run_count > 0 && !b->disordered);
	history_before(e, clock_coarse(e->options.clock));
	for (i = 0; i < b->run_count && err == 0; i++)
		err = edit_add_loaded(&edit, find_level(v, &b->runs[i]),
				      b->runs[i].id, b->runs[i].size, seq);
	for (i = 0; i < files; i++)
		bytes += b->runs[i].size;
	version_put(v);
	if (err == 0)
		err = sync_log(e);
	if (err < 0)
		goto release;
	err = engine_apply(e, &edit);
	if (err == 0 || atomic_load(&e->error) != 0)
		forget_runs(b);
	if (err < 0)
		goto release;
	e->written_seq = seq;
	err = log_mark(e);
	if (err < 0)
		goto release;
	gaps_note_any(&e->gaps, seq);
	memtable_apply(e->memtable, mark, seq);
	atomic_store_explicit(&e->visible_seq, seq, memory_order_release);
	event_add(&e->events, EVENTS_MAIN,
		  "bulk_loaded ssts=%zu bytes=%llu seq=%llu", files,
		  (unsigned long long)bytes, (unsigned long long)seq);
release:
	edit_release(&edit);
	return err;
}

/* A small load costs less as one record of the log. An empty one is small. No
 * run may be under way. */
static bool is_small(const struct bulk *b)
{
	return b->run_count == 0 && b->puts.count <= BATCH_RECORDS_MAX &&
	       b->puts.data.size <= b->memory_size / SMALL_PART;
}

/* By engine_write, which takes the puts in the order in which they were added,
 * so that of one version key the last one stays. What they refer to is held
 * until then. */
static int publish_small(struct bulk *b)
{
	struct batch batch = BATCH_INIT;
	size_t i;
	int err = 0;

	for (i = 0; i < b->puts.count && err == 0; i++) {
		struct bytes key = puts_key(&b->puts, i);
		struct bytes value = puts_value(&b->puts, i);

		err = puts_kind(&b->puts, i) == KEY_BLOB
			      ? batch_put_blob(&batch, key, value)
			      : batch_put(&batch, key, value);
	}
	if (err == 0)
		err = engine_write(b->e, &batch, true, NULL);
	batch_release(&batch);
	if (err < 0)
		return err;
	count_none(b);
	puts_release(&b->puts);
	blob_release(b->e, &b->holds);
	return 0;
}

int bulk_prepare(struct bulk *b)
{
	int err = settle(b);

	if (err == 0 && b->puts.count > 0 && !is_small(b))
		err = spill(b);
	if (err == 0)
		err = settle(b);
	if (err == 0)
		err = run_writer_settle(&b->writer, b->runs, b->run_count);
	if (err < 0 || !b->disordered)
		return err;
	err = runs_merge(b->e, b->beside, &b->runs, &b->run_count);
	if (err == 0)
		b->disordered = false;
	return err;
}

int bulk_publish(struct bulk *b)
{
	struct engine *e = b->e;
	struct batch mark = BATCH_INIT;
	int err;

	err = bulk_prepare(b);
	if (err == 0 && is_small(b))
		return publish_small(b);
	if (err == 0)
		err = batch_mark(&mark);
	if (err < 0 || b->run_count == 0)
		goto release;

	/* From the flush of what it overlaps to its sequence nobody may write,
	 * and from the choice of levels to the edit nobody may compact. */
	pthread_mutex_lock(&e->commit);
	err = engine_writable(e);
	if (err == 0)
		err = flush_overlap(b, &mark);
	if (err == 0) {
		pthread_mutex_lock(&e->work);
		err = name_files(b, &mark);
		pthread_mutex_unlock(&e->work);
	}
	pthread_mutex_unlock(&e->commit);
	if (err == 0) {
		count_none(b);
		blob_release(e, &b->holds);
		engine_wake(e);
	}
release:
	batch_release(&mark);
	return err;
}
