#include <assert.h>

#include "store/base/err.h"
#include "store/base/probe.h"
#include "store/engine/core/history.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/room.h"
#include "store/engine/run/rotate.h"
#include "store/engine/run/step.h"
#include "store/engine/run/write.h"

/*
 * The write path: reserve, log, apply, publish. Under the commit lock there is
 * first made room in the memtable, so that nothing can fail between the log and
 * the memtable. If the log fails it may hold a part of the batch, so the store
 * goes read-only; but not for lack of space, when it holds nothing of it.
 *
 * A writer that is ahead of flushes and compactions is first slowed, by the
 * bytes that it writes (core/pace.h), then stopped until a memtable is flushed
 * or level 0 has been compacted: reads ask each file of level 0.
 */

void engine_on_work(struct engine *e, void (*wake)(void *context),
		    void *context)
{
	e->wake_context = e->events.wake_context = context;
	e->wake = e->events.wake = wake;
}

/* How far the background is behind: 0 not, 1 writers go slowly, 2 they wait.
 * Needs lock. */
static int pressure(struct engine *e)
{
	size_t files = atomic_load(&e->pace.depth);
	size_t stop = e->options.level0_stop;

	/* With a background commits that come one by one go slowly instead. */
	if (e->immutable_count > IMMUTABLES_WAITING ||
	    files >= (e->wake ? 2 * stop : stop))
		return 2;
	return files >= e->options.level0_slow;
}

/* Whether waiting for the background makes sense: it is there, and not itself
 * waiting for something to pass. Needs lock. */
static bool must_wait(struct engine *e)
{
	return pressure(e) == 2 && e->wake && atomic_load(&e->error) == 0 &&
	       e->trouble == 0;
}

/* What a writer waits for. */
struct wait {
	enum stall cause;        /* STALL_NONE: it does not wait */
	size_t memtables, files; /* that wait for a flush; of level 0 */
	uint64_t start_us;
};

static void stall_begin(struct engine *e, struct wait *s, size_t memtables,
			size_t files)
{
	if (s->cause)
		return;
	s->cause =
		memtables > IMMUTABLES_WAITING ? STALL_MEMTABLES : STALL_LEVEL0;
	s->memtables = memtables;
	s->files = files;
	s->start_us = event_now(&e->events);
	atomic_store(&e->now.stalled_since_us, s->start_us);
	atomic_store(&e->now.stalled, s->cause);
	PROBE(stall_begin, memtables, files);
	event_add(&e->events, EVENTS_MAIN,
		  "stall for=%s memtables=%zu level0_ssts=%zu",
		  stall_word(s->cause), memtables, files);
}

static void stall_end(struct engine *e, const struct wait *s)
{
	uint64_t us;

	if (!s->cause)
		return;
	us = event_since(&e->events, s->start_us);
	atomic_store(&e->now.stalled, STALL_NONE);
	atomic_fetch_add(&e->counters.stalls[s->cause], 1);
	atomic_fetch_add(&e->counters.stall_us[s->cause], us);
	PROBE(stall_end, s->memtables, s->files);
	event_add(&e->events, EVENTS_MAIN, "stall_over for=%s us=%llu",
		  stall_word(s->cause), (unsigned long long)us);
}

/* Whether one more memtable would be one too many that wait. Takes lock. */
static bool is_crowded(struct engine *e)
{
	bool crowded;

	pthread_mutex_lock(&e->lock);
	crowded = e->immutable_count > IMMUTABLES_WAITING;
	pthread_mutex_unlock(&e->lock);
	return crowded;
}

/* Waits until there is room for one more memtable, or does the work itself when
 * there is no background thread, or it is in trouble and the writer frees
 * space. 0, or why there will be none: the store is
 * read-only, or the background is in trouble. Needs commit, so that all writers
 * wait. */
static int relieve(struct engine *e, bool frees)
{
	struct wait stall = { 0 };
	size_t memtables, files;
	int level, err = 0;

	for (;;) {
		pthread_mutex_lock(&e->lock);
		level = pressure(e);
		if (must_wait(e)) {
			memtables = e->immutable_count;
			files = atomic_load(&e->pace.depth);
			pthread_mutex_unlock(&e->lock);
			stall_begin(e, &stall, memtables, files);
			engine_wake(e);
			/* It may have been done since the lock was let go, and
			 * then nothing would signal any more. */
			pthread_mutex_lock(&e->lock);
			if (must_wait(e))
				pthread_cond_wait(&e->progress, &e->lock);
			pthread_mutex_unlock(&e->lock);
			continue;
		}
		pthread_mutex_unlock(&e->lock);
		stall_end(e, &stall);
		err = engine_writable(e);
		if (err == 0 && level == 2 && e->wake)
			err = frees ? engine_flush_waiting(e)
				    : engine_no_room(e);
		if (frees && e->wake)
			return err;
		if (err < 0 || level == 0 || e->wake)
			return err;
		err = engine_step(e);
		/* Compactions may lack room that the next flush has. */
		if (err == -ENOSPC && frees && !is_crowded(e)) {
			err_clear();
			return 0;
		}
		if (err <= 0)
			return err;
	}
}

/* Makes room for batch in the memtable, by beginning another one if it has
 * none. That is done as well when much was written to blob files since the last
 * one began: only ssts tell of their garbage. Needs commit. */
static int reserve_memory(struct engine *e, const struct batch *batch)
{
	int fits = memtable_reserve(e->memtable, batch), err;

	if (fits < 0)
		return fits;
	if (fits &&
	    (atomic_load(&e->fresh_large) < e->options.blob_flush_size ||
	     e->memtable->last_seq == 0))
		return 0;
	err = relieve(e, engine_frees_space(batch));
	if (err < 0)
		return err;
	/* A batch may be larger than memtables are: then it gets one for
	 * itself. Places in one have 32 bits. */
	err = engine_rotate(e, memtable_need(batch));
	if (err < 0)
		return err;
	engine_wake(e);
	err = memtable_reserve(e->memtable, batch);
	return err < 0 ? err : 0;
}

/* Makes room for batch in the memtable and on the disk. For the disk the
 * memtable may be flushed, and the next be too small. Needs commit. */
static int reserve(struct engine *e, const struct batch *batch)
{
	const struct memtable *m;
	int err;

	do {
		err = reserve_memory(e, batch);
		m = e->memtable;
		if (err == 0)
			err = engine_log_room(e, batch);
	} while (err == 0 && m != e->memtable);
	if (err == -ENOSPC)
		engine_want_room(e);
	return err;
}

/* What a full disk has kept from the log goes before what has later sequences,
 * or these would seem to follow a gap. */
int engine_log_marks(struct engine *e)
{
	struct batch mark = BATCH_INIT;
	int err = e->unmarked_seq ? batch_mark(&mark) : 0;

	assert(e->unmarked_seq <= e->written_seq);
	while (err == 0 && e->unmarked_seq) {
		err = wal_append(e->wal, batch_seal(&mark, e->unmarked_seq));
		if (err == 0)
			e->unmarked_seq = e->unmarked_seq < e->written_seq
						  ? e->unmarked_seq + 1
						  : 0;
	}
	if (err < 0 && wal_broken(e->wal))
		engine_poison(e, err);
	batch_release(&mark);
	return err;
}

static int log_batch(struct engine *e, struct batch *batch, uint64_t seq)
{
	int err = engine_log_marks(e);

	assert(e->wal && batch->count > 0);
	if (err == 0)
		err = wal_append(e->wal, batch_seal(batch, seq));
	if (err < 0 && wal_broken(e->wal))
		engine_poison(e, err);
	return err;
}

/* Who had commit tells it, and those who waited for that do not. */
static void tell_slow(struct engine *e, const struct batch *batch,
		      uint64_t start_us)
{
	uint64_t now = clock_coarse(e->options.clock);

	if (now > start_us && event_is_slow(&e->events, now - start_us))
		event_add(&e->events, EVENTS_MAIN,
			  "slow_commit changes=%u bytes=%zu us=%llu",
			  batch->count, batch->data.size,
			  (unsigned long long)(now - start_us));
}

/* What a deletion would bring back was looked for before, at a GC time that is
 * held until now (engine_hold_gc_time); of later ones it is no less. Needs
 * commit. */
static void apply(struct engine *e, const struct batch *batch, uint64_t seq)
{
	struct memtable *m = e->memtable;
	bool deleted = memtable_first_delete(m) != UINT64_MAX;

	memtable_apply(m, batch, seq);
	if (deleted || memtable_first_delete(m) == UINT64_MAX)
		return;
	pthread_mutex_lock(&e->lock);
	atomic_store(&m->delete_us, engine_gc_time(e));
	pthread_mutex_unlock(&e->lock);
}

int engine_write(struct engine *e, struct batch *batch, bool sync,
		 uint64_t *seq)
{
	uint64_t first, last = 0, start;
	int err;

	if (batch->count == 0)
		return sync ? engine_sync(e) : 0;
	pthread_mutex_lock(&e->commit);
	start = clock_coarse(e->options.clock);
	PROBE(commit_begin, batch->count, batch->data.size);
	err = engine_writable(e);
	if (err == 0)
		err = reserve(e, batch);
	if (err < 0)
		goto unlock;
	pace_writer(e, batch->data.size);
	history_before(e, clock_coarse(e->options.clock));
	first = e->written_seq + 1;
	last = e->written_seq + batch->count;
	err = engine_invariant(e, e->memtable->last_seq < first,
			       "a commit of sequence %llu follows one of %llu",
			       (unsigned long long)first,
			       (unsigned long long)e->memtable->last_seq);
	if (err == 0)
		err = blob_name(e, batch, last);
	if (err < 0)
		goto unlock;
	err = log_batch(e, batch, first);
	if (err < 0)
		goto unlock;
	e->written_seq = last;
	gaps_note_batch(&e->gaps, batch, last);
	apply(e, batch, first);
	/* Released after the memtable, so whoever reads it sees the records. */
	atomic_store_explicit(&e->visible_seq, last, memory_order_release);
	atomic_fetch_add(&e->counters.writes, 1);
	atomic_fetch_add(&e->counters.written_size, batch->data.size);
	if (seq)
		*seq = last;
unlock:
	PROBE(commit_end, batch->count, err);
	tell_slow(e, batch, start);
	pthread_mutex_unlock(&e->commit);
	/* Without commit, so that others write while this one waits. */
	if (err == 0 && sync)
		err = engine_sync(e);
	return err;
}

uint64_t engine_visible_seq(struct engine *e)
{
	return atomic_load_explicit(&e->visible_seq, memory_order_acquire);
}
