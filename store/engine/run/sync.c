#include <assert.h>

#include "store/base/probe.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/sync.h"

int engine_sync_log(struct engine *e)
{
	int err = blob_sync(e);

	/* A durable record's chunks are durable: recovery goes by that. */
	return err < 0 ? err : wal_sync(e->wal);
}

static void tell_slow(struct engine *e, uint64_t us)
{
	if (event_is_slow(&e->events, us))
		event_add(&e->events, EVENTS_MAIN, "slow_sync us=%llu",
			  (unsigned long long)us);
}

/* Those who wait for the mutex while one syncs are all served by the next
 * sync: group commit. */
int engine_sync(struct engine *e)
{
	uint64_t want = atomic_load(&e->visible_seq);
	uint64_t covered, start, us;
	int err = 0;

	if (e->options.read_only)
		return 0;
	pthread_mutex_lock(&e->sync);
	if (atomic_load(&e->synced_seq) < want) {
		err = engine_writable(e);
		/* What is visible now is in the log, maybe more than want. */
		covered = atomic_load(&e->visible_seq);
		assert(covered >= want);
		if (err == 0) {
			start = event_now(&e->events);
			PROBE(sync_begin, covered, 0);
			err = engine_sync_log(e);
			PROBE(sync_end, covered, err);
			us = event_since(&e->events, start);
			histogram_add(&e->counters.sync_times, us * 1000);
			tell_slow(e, us);
			if (err < 0)
				engine_poison(e, err);
			else
				atomic_store(&e->synced_seq, covered);
			atomic_fetch_add(&e->counters.syncs, 1);
		}
	}
	pthread_mutex_unlock(&e->sync);
	return err;
}
