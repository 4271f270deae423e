#include <time.h>

#include "store/base/err.h"
#include "store/engine/compact/hidden.h"
#include "store/engine/core/history.h"
#include "store/engine/compact/pick_dead.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/covered.h"
#include "store/engine/run/dead.h"
#include "store/engine/run/hold.h"
#include "store/engine/run/rotate.h"

/* Seconds without a write from which on the store is idle; and from which on
 * merges go by what is best for readers. */
#define IDLE_S 5
#define REST_S 1
/* A flush is worth its while if its deletions hide a DEAD_SHARE of the data; or
 * for what it has itself, if it takes so many bytes and as large a share of its
 * cells are deletions. */
#define WORTH_SIZE ((size_t)1 << 20)
/* Large values are worth one if they take one byte in so many of a blob file,
 * and a DEAD_SHARE of all of them. */
#define WORTH_LARGE_SHARE 64

/* Of the files of v. */
struct sums {
	uint64_t size, rows;
	uint64_t covered; /* bytes of those that m covers as a whole */
};

/* Whether one range tombstone of m, or some without a gap, cover all of f. */
static bool covers(const struct memtable *m, const struct sst_file *f)
{
	struct bytes at = f->smallest;
	struct tombstone span;

	while (memtable_cover(m, at, UINT64_MAX, &span) > f->largest_seq) {
		if (span.end.size == 0 ||
		    bytes_compare(span.end, f->largest) > 0)
			return true;
		at = span.end;
	}
	return false;
}

static struct sums sum_up(const struct version *v, const struct memtable *m)
{
	bool deletes_ranges = atomic_load(&m->tombstone_count) > 0;
	struct sums s = { 0 };
	unsigned int level;
	size_t i;

	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count; i++) {
			const struct sst_file *f = v->levels[level].files[i];

			s.size += f->size;
			s.rows += sst_properties(f->sst)->row_count;
			if (deletes_ranges && covers(m, f))
				s.covered += f->size;
		}
	return s;
}

static uint64_t blob_size(const struct engine *e, const struct version *v)
{
	uint64_t size = atomic_load(&e->blobs->size);
	size_t i;

	for (i = 0; i < v->blob_count; i++)
		size += atomic_load(&v->blobs[i]->size);
	return size;
}

/* Whether so many large values came with the present memtable that they are
 * worth its flush: which of them are superseded only ssts tell. */
static bool brought_large(struct engine *e, const struct version *v)
{
	uint64_t fresh = atomic_load(&e->fresh_large);

	return fresh >= e->options.blob_file_size / WORTH_LARGE_SHARE &&
	       fresh * DEAD_SHARE >= blob_size(e, v);
}

/* Whether m hides a DEAD_SHARE of all in large values; the ssts of v have so
 * many bytes. Of what was written it is looked for once. */
static bool hides_large(struct engine *e, const struct memtable *m,
			const struct version *v, uint64_t sst_size)
{
	uint64_t size = blob_size(e, v), hidden;
	uint64_t seq = atomic_load(&e->visible_seq);

	if (size == 0 || e->tick.looked_seq == seq)
		return false;
	e->tick.looked_seq = seq;
	if (hidden_by_memtable(v, m, &hidden) < 0) {
		err_clear();
		return false;
	}
	return hidden * DEAD_SHARE >= size + sst_size;
}

/* Whether m, the present memtable, is worth a flush for what it supersedes. */
static bool is_worth(struct engine *e, struct memtable *m,
		     const struct version *v, bool idle)
{
	uint64_t deletions = atomic_load(&m->delete_count) +
			     (uint64_t)atomic_load(&m->tombstone_count);
	struct sums s;

	if (idle && brought_large(e, v))
		return true;
	if (memtable_first_delete(m) == UINT64_MAX)
		return false;
	s = sum_up(v, m);
	if (s.covered > 0 && s.covered * DEAD_SHARE >= s.size)
		return true;
	if (!idle)
		return false;
	/* A deletion hides a row, as far as it goes. */
	if (s.rows > 0 && deletions * DEAD_SHARE >= s.rows)
		return true;
	if (arena_used(&m->arena) >= WORTH_SIZE &&
	    deletions * DEAD_SHARE >= atomic_load(&m->cell_count))
		return true;
	return hides_large(e, m, v, s.size);
}

/* Gives the present memtable to a flush, unless somebody writes just now or
 * there is no room. */
static void rotate(struct engine *e)
{
	bool waiting;

	if (pthread_mutex_trylock(&e->commit) != 0)
		return;
	pthread_mutex_lock(&e->lock);
	waiting = e->immutable_count > 0;
	pthread_mutex_unlock(&e->lock);
	if (!waiting &&
	    (engine_hold_room(e, arena_used(&e->memtable->arena)) < 0 ||
	     engine_rotate(e, 0) < 0))
		err_clear();
	pthread_mutex_unlock(&e->commit);
}

/* Whether a second has gone by, and for how many there was no write. Called by
 * one thread at a time. */
static bool second(struct engine *e, unsigned int *idle_s)
{
	uint64_t writes = atomic_load(&e->counters.writes);
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (e->wake && now.tv_sec == e->tick.second)
		return false;
	e->tick.second = now.tv_sec;
	e->tick.idle_s = writes == e->tick.writes ? e->tick.idle_s + 1 : 0;
	e->tick.writes = writes;
	*idle_s = e->tick.idle_s;
	return true;
}

void engine_tick(struct engine *e)
{
	struct memtable *m;
	struct version *v;
	unsigned int idle_s;
	bool worth;

	if (e->options.read_only || atomic_load(&e->error) != 0 ||
	    !second(e, &idle_s))
		return;
	/* Without memory it is the next second's. */
	if (history_tick(e) < 0)
		err_clear();
	pthread_mutex_lock(&e->lock);
	m = memtable_get(e->memtable);
	v = version_get(e->version);
	pthread_mutex_unlock(&e->lock);
	atomic_store(&e->at_rest, idle_s >= REST_S);
	atomic_store(&e->idle, idle_s >= IDLE_S);
	worth = is_worth(e, m, v, idle_s >= IDLE_S);
	memtable_put(m);
	version_put(v);
	if (worth)
		rotate(e);
	atomic_store(&e->dead_wanted, true);
	if (e->wake)
		e->wake(e->wake_context);
}

int engine_drop_dead(struct engine *e)
{
	struct version *v = engine_version(e);
	int err = engine_drop_covered(e, v);

	version_put(v);
	return err;
}

int engine_pick_dead(struct engine *e, struct version *v,
		     const struct compaction_options *o, struct compaction *out)
{
	struct gc_rules *rules;
	uint64_t now_us, held_us, held_seq;
	int err;

	(void)o;
	pthread_mutex_lock(&e->lock);
	rules = gc_rules_get(e->rules);
	now_us = engine_gc_time(e);
	held_us = e->oldest ? e->oldest->gc_time_us : now_us;
	held_seq = e->newest ? e->newest->seq : 0;
	pthread_mutex_unlock(&e->lock);
	err = compact_pick_expired(v, rules, held_seq, held_us, now_us, out);
	gc_rules_put(rules);
	return err != 0 ? err : compact_pick_deletions(v, out);
}
