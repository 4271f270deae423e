#ifndef TESTS_SIM_VOLUME_MEM_H
#define TESTS_SIM_VOLUME_MEM_H

#include "store/base/lease/holder.h"
#include "store/base/volume/volume.h"
#include "tests/sim/rng.h"

/*
 * A volume in memory that knows which of its bytes would survive a power cut,
 * and that fails on request. For tests; one thread at a time.
 *
 * What is durable: finished segments and their names, the root, and of a log
 * what was there at its last sync. A log that was never synced may lose its
 * name, and a removed file may come back, because nobody syncs a removal.
 */
int volume_mem_new(struct volume **out);
/* The same volume as another process has it: with a lease of its own. It is
 * ended by close, before v. */
int volume_mem_other(struct volume *v, struct volume **out);
/* Who has the lease is past its time, or with who of such an identity: whoever
 * takes it next deposes it, if it is not alive. */
void volume_mem_expire(struct volume *v);
void volume_mem_held_by(struct volume *v, const struct holder *who);
/* Whether it can be known who has the lease. */
void volume_mem_silence(struct volume *v, bool silent);
/* A lease is known to hold for so long, always. */
void volume_mem_lease_of(struct volume *v, uint64_t ms);
/* From now on a kill leaves of logs only what was synced. */
void volume_mem_forgetful(struct volume *v);
/* As such a kill, here and now. */
void volume_mem_forget_unsynced(struct volume *v);
/* One more call of close is needed to end v, so that it outlives a store. */
void volume_mem_keep(struct volume *v);

/*
 * A second volume as a power cut at this moment would leave the first: nobody
 * holds its lease, and of every log's unsynced tail some random part survives:
 * none, all, cut anywhere or at a page, with pages of zeros or garbage.
 */
int volume_mem_crash_clone(struct volume *v, struct rng *rng,
			   struct volume **out);
/* The same as a kill of the process would leave it: every byte is there, and
 * what was not durable still is not. */
int volume_mem_kill_clone(struct volume *v, struct volume **out);

/*
 * The n-th call from now on that can fail (1: the next) fails with error, and
 * with forever all after it too. What a failed call did is random, within what
 * volume.h allows: part of an append, a root swapped or not. n 0 ends it.
 */
void volume_mem_fail(struct volume *v, uint64_t n, int error, bool forever,
		     uint64_t seed);
/* The same as a full disk: the n-th call that needs space and all such after it
 * fail with ENOSPC, while all others succeed. */
void volume_mem_fill(struct volume *v, uint64_t n, uint64_t seed);
/* The same, besides, of files whose names end like this: all such calls fail,
 * and are not counted. NULL ends it. */
void volume_mem_fill_suffix(struct volume *v, const char *suffix);
/* So many bytes of a GiB are said to be available; at first half of it. */
void volume_mem_available(struct volume *v, uint64_t size);
/* From now on no room is held, as on a file system that cannot. */
void volume_mem_no_room(struct volume *v);
/* Whether the failure that was asked for has happened. */
bool volume_mem_failed(const struct volume *v);
/* Calls so far that can fail. */
uint64_t volume_mem_calls(const struct volume *v);

/* Calls hook before and after each change, so that a test can take a crash
 * clone there. NULL ends it. */
void volume_mem_hook(struct volume *v,
		     void (*hook)(void *context, struct volume *v),
		     void *context);

/* Direct access for tests that damage files: a file's bytes, which they may
 * change, or size 0 if there is none; "root" is the root, "LOG" and "LOG.1" are
 * the notes. */
struct bytes volume_mem_file(struct volume *v, const char *name);
/* Shortens a file. */
void volume_mem_truncate(struct volume *v, const char *name, size_t size);
/* What was removed stays so, and is no memory any more: for runs that go on. */
void volume_mem_forget(struct volume *v);
/* Objects (readers, writers, logs) that were opened and not closed. */
size_t volume_mem_open_count(const struct volume *v);

#endif
