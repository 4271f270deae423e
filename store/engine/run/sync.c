#include <assert.h>
#include <errno.h>

#include "store/base/probe.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/large/blobs.h"
#include "store/engine/run/sync.h"

/*
 * Syncs of the log under way at once: while the disk is at one, others wait for
 * the next, which serves them all. On a directory more gain nothing, as its
 * syncs exclude each other (volume_posix.c). Where every commit waits for one,
 * and it goes over a network, the next need not wait for the answer. That is
 * right as the volume keeps log_sync's word: 0 is for all that was appended
 * before the call, and no call returns it once another has failed. What is
 * synced is then what the one covers that got the furthest, and chunks are
 * synced before by each.
 */
#define SYNCS_MAX 4

static unsigned int syncs_max(const struct engine *e)
{
	return e->volume->survives_kill ? 1 : SYNCS_MAX;
}

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
	covered = e->syncing_seq = atomic_load(&e->visible_seq);
	e->syncing++;
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
	e->syncing--;
	if (err == 0 && atomic_load(&e->synced_seq) < covered)
		atomic_store(&e->synced_seq, covered);
	pthread_cond_broadcast(&e->synced);
	return err;
}

/*
 * Group commit: who comes while a sync is under way that does not cover what he
 * wrote waits for its end, and one of those who did syncs for all of them. They
 * wait for a sequence, so that all who are served go on at once, and those who
 * come next are met by one more sync and not by each other.
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
		if (e->syncing >= syncs_max(e) ||
		    (e->syncing > 0 && e->syncing_seq >= want))
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
	while (e->syncing > 0)
		pthread_cond_wait(&e->synced, &e->sync);
}

void engine_sync_let_go(struct engine *e)
{
	pthread_mutex_unlock(&e->sync);
}
