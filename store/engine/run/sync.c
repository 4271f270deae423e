#include <assert.h>
#include <errno.h>

#include "store/base/probe.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/sync.h"

int engine_sync_log(struct engine *e)
{
	int err = blob_sync(e);

	/* A durable record's chunks are durable: recovery goes by that. */
	if (err == 0)
		err = wal_sync(e->wal);
	if (err == 0)
		engine_synced(e);
	return err;
}

static void tell_slow(struct engine *e, uint64_t us)
{
	if (event_is_slow(&e->events, us))
		event_add(&e->events, EVENTS_MAIN, "slow_sync us=%llu",
			  (unsigned long long)us);
}

/* Syncs what is visible now, for all who wait for that. Needs sync, which
 * others have meanwhile. */
static int sync_for_all(struct engine *e)
{
	uint64_t covered, start, us;
	int err;

	/* What is visible is in the log. */
	covered = atomic_load(&e->visible_seq);
	e->syncing = true;
	pthread_mutex_unlock(&e->sync);
	start = event_now(&e->events);
	PROBE(sync_begin, covered, 0);
	err = engine_sync_log(e);
	PROBE(sync_end, covered, err);
	us = event_since(&e->events, start);
	histogram_add(&e->counters.sync_times, us * 1000);
	tell_slow(e, us);
	/* Before the others are told to go on. */
	if (err < 0)
		engine_sync_failed(e, err);
	atomic_fetch_add(&e->counters.syncs, 1);
	pthread_mutex_lock(&e->sync);
	e->syncing = false;
	if (err == 0 && atomic_load(&e->synced_seq) < covered)
		atomic_store(&e->synced_seq, covered);
	pthread_cond_broadcast(&e->synced);
	return err;
}

/*
 * Group commit: who comes while a sync is under way waits for its end, and one
 * of those whom it did not serve syncs for all of them. They wait for a
 * sequence, so that all who are served go on at once, and those who come next
 * are met by one more sync and not by each other.
 *
 * One at a time in a pool, too, whose volume takes several: each is a write of
 * its own, which costs the OSDs the same for one commit and for sixteen, and
 * they do writes of one object one after the other. With up to four under way,
 * groups were so much smaller that 16 writers of a pool on two processors made
 * 0.6 times as many commits a second, and 4 writers 0.6 times, too.
 */
int engine_sync(struct engine *e)
{
	uint64_t want = atomic_load(&e->visible_seq);
	int err = 0;

	if (e->options.read_only)
		return 0;
	pthread_mutex_lock(&e->sync);
	/* Trouble of a sync ends by one, though nothing may wait for that. */
	while (err == 0 && (atomic_load(&e->synced_seq) < want ||
			    atomic_load(&e->sync_short))) {
		err = engine_writable(e);
		if (err < 0)
			break;
		if (e->syncing)
			pthread_cond_wait(&e->synced, &e->sync);
		else
			err = sync_for_all(e);
	}
	pthread_mutex_unlock(&e->sync);
	return err;
}

void engine_sync_hold(struct engine *e)
{
	pthread_mutex_lock(&e->sync);
	while (e->syncing)
		pthread_cond_wait(&e->synced, &e->sync);
}

void engine_sync_let_go(struct engine *e)
{
	pthread_mutex_unlock(&e->sync);
}
