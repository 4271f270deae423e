#ifndef STORE_ENGINE_CORE_STATE_H
#define STORE_ENGINE_CORE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/engine/compact/compact.h"
#include "store/engine/core/engine.h"
#include "store/engine/files/manifest.h"
#include "store/engine/files/memtable.h"
#include "store/engine/files/wal.h"

/*
 * The engine's insides, shared by open.c, write.c, step.c and cursor.c.
 *
 * Locks, in the order in which they are taken:
 *   commit   one writer at a time: sequence, log, memtable
 *   work     one unit of background work at a time
 *   sync     the log's file: syncing it, replacing it
 *   blobs.syncing, blobs.lock   see blobs.h
 *   edits    the manifest: applying an edit
 *   lock     the pointers that readers copy; held for a few instructions
 */
#define IMMUTABLES_MAX 64
/* Of them all but this many may wait for a flush before writers wait too. */
#define IMMUTABLES_WAITING 1
/* Finished logs kept at open before their content is flushed. */
#define LOGS_KEPT_MAX 8

struct blobs;

struct unused_file {
	uint64_t id;
	const char *suffix;
};

struct engine_snapshot {
	uint64_t seq;
	uint64_t gc_time_us;
	struct memtable *pending; /* on top of what is written; or NULL */
	struct engine_snapshot *older, *newer; /* protected by lock */
};

struct engine {
	struct file_owner owner; /* of ssts; first, so that it can be cast */
	struct volume *volume;
	struct engine_options options;
	struct cache *cache;
	struct manifest *manifest; /* protected by edits, once open */
	bool lease;
	struct buf recovery_text;

	pthread_mutex_t commit;
	pthread_mutex_t work;
	pthread_mutex_t sync;
	pthread_mutex_t edits;
	pthread_mutex_t lock;
	pthread_cond_t progress; /* with lock: work was done, or error set */

	struct blobs *blobs; /* large values */
	struct wal *wal;     /* protected by commit and sync */
	uint64_t log_id;
	uint64_t written_seq; /* in the log; protected by commit */
	uint64_t log_room; /* the log's size up to which there is space on the
			      volume; so too */
	uint64_t unmarked_seq;       /* of the first bulk load that the log does
					not know of yet, nor of those after it
					up to written_seq; 0; so too */
	_Atomic uint64_t synced_seq; /* durable; set under sync */
	_Atomic uint64_t
		flushed_seq; /* from memtables to ssts; set under work */
	_Atomic uint64_t visible_seq;

	/* Protected by lock: */
	struct memtable *memtable;
	struct memtable *immutables[IMMUTABLES_MAX]; /* oldest first */
	size_t immutable_count;
	struct version *version;
	struct gc_rules *rules;
	struct engine_snapshot *oldest, *newest;
	uint64_t gc_time_us;        /* never goes back */
	struct unused_file *unused; /* to be removed from the volume */
	size_t unused_count, unused_capacity;
	void (*wake)(void *context);
	void *wake_context;
	int trouble;            /* that background work has; 0 */
	char trouble_text[600]; /* of it or of error */

	_Atomic int error; /* the first that made it read-only; 0 */
	struct engine_counters {
		_Atomic uint64_t flushes, compactions, trivial_moves;
		_Atomic uint64_t written_size, compacted_size;
		_Atomic uint64_t writes, syncs;
	} counters;
};

/* Applies edit and publishes the new version. Takes edits and lock. After a
 * failure nothing of it has happened, unless the store is read-only now. */
int engine_apply(struct engine *e, struct edit *edit);
/* The same of an edit whose ssts hold what is in m, the oldest memtable that
 * waits, which goes at the same moment: a reader sees one or the other, or what
 * adds up would be added twice. Puts m on success. */
int engine_apply_flush(struct engine *e, struct edit *edit, struct memtable *m);
/* The present version, referenced. Takes lock. */
struct version *engine_version(struct engine *e);
uint64_t engine_new_id(void *engine);
/* The time that GC goes by now; needs lock. */
uint64_t engine_gc_time(struct engine *e);

/* Removes a file that nothing refers to; a failure is left for the next open.
 */
void engine_remove(struct engine *e, uint64_t id, const char *suffix);

#endif
