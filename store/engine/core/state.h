#ifndef STORE_ENGINE_CORE_STATE_H
#define STORE_ENGINE_CORE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "store/base/memory.h"
#include "store/base/watch/histogram.h"
#include "store/engine/compact/compact.h"
#include "store/engine/compact/guards.h"
#include "store/engine/core/engine.h"
#include "store/engine/core/event_log.h"
#include "store/engine/core/gaps.h"
#include "store/engine/core/pace.h"
#include "store/engine/core/view.h"
#include "store/engine/files/manifest.h"
#include "store/engine/files/memtable.h"
#include "store/engine/log/wal.h"
#include "store/stats.h"

/*
 * The engine's insides, shared by the rooms large, read, run and repair.
 *
 * Locks, in the order in which they are taken; who holds one takes only those
 * below it:
 *   commit         one writer at a time: sequence, log, memtable
 *   work           one unit of background work at a time
 *   sync           who syncs the log, and up to where; replacing it
 *   blobs.syncing  the blob file: syncing it, replacing it; see large/blobs.h
 *   blobs.lock     appending to the blob file
 *   edits          the manifest: applying an edit
 *   rests.lock     the list of readers that rest; see read/rest.h
 *   lock           the pointers that readers copy; held for a few instructions
 *   gaps.lock      what readers need not step over; see core/gaps.h
 *
 * Readers take lock alone, to copy pointers and take references. What is
 * _Atomic may be read without a lock.
 */

/* Memtables that may wait for a flush, as recovery alone lets so many: who only
 * reads takes them twice as large each time. Every read has room for so many,
 * and what malloc is quick with ends at a kilobyte. */
#define IMMUTABLES_MAX 16

/* Of them all but this many may wait for a flush before writers wait too. */
#define IMMUTABLES_WAITING 1

/* Finished logs kept at open before their content is flushed: each takes space
 * and time to be replayed again. */
#define LOGS_KEPT_MAX 8

struct blobs;
struct follower;
struct sources;

/* Readers that rest, see read/rest.h. */
struct rests {
	pthread_mutex_t lock;            /* guards the list */
	struct sources *oldest, *newest; /* by when the rest began */
	_Atomic uint64_t epoch; /* grows when memtables or files have gone */
};

/* A file that no version holds any more, to be removed by engine_step. */
struct unused_file {
	uint64_t id;
	uint64_t size;      /* bytes */
	const char *suffix; /* "sst" or "blob" */
	uint64_t since_us;  /* by clock_steady */
};

/* A moment that someone reads at: it keeps merges from dropping what is seen.
 */
struct engine_snapshot {
	uint64_t seq;
	uint64_t gc_time_us;
	struct gc_rules *rules;   /* of its moment, referenced; or NULL */
	struct memtable *pending; /* on top of what is written; or NULL */
	struct engine_view *view; /* a follower's, referenced; NULL: none */
	uint64_t as_of_us;        /* of one that is not shown yet, by
				     clock_steady */
	struct engine_snapshot *older, *newer; /* protected by lock */
	bool past; /* of a moment, which history keeps, and not merges; in the
		      list e->past */
	bool gone; /* its history was given up; protected by lock */
};

struct engine {
	struct file_owner owner; /* of ssts; first, so that it can be cast */
	struct volume *volume;   /* borrowed; outlives the engine */
	struct engine_options options; /* not changed once it is open */
	struct cache *cache;           /* owned; has locks of its own */
	struct memory *memory;         /* owned; as the cache */
	struct manifest *manifest;     /* protected by edits, once open */
	bool lease;                    /* taken, and to be released */
	struct buf recovery_text; /* sentences; not changed once it is open */
	struct event_log events;  /* has locks of its own, below all others */

	pthread_mutex_t commit;
	pthread_mutex_t work;
	pthread_mutex_t sync;
	pthread_mutex_t edits;
	pthread_mutex_t lock;
	pthread_cond_t progress; /* with lock: work was done, or error set */
	pthread_cond_t synced;   /* with sync: a sync of the log has ended */
	bool syncing;            /* one of it is under way; protected by sync */
	atomic_bool sync_short;  /* one lacked space, and none has gone well
				    since */

	/* Of who follows what another process writes; see follow/follow.h. */
	struct follower *follower; /* owned; NULL: it does not follow */
	_Atomic uint64_t as_of_us; /* when the last look began that found all;
				      by clock_steady */

	struct gaps gaps;
	struct rests rests;
	struct blobs *blobs;          /* large values */
	_Atomic uint64_t fresh_large; /* bytes of those written since the
					 memtable began */
	struct wal *wal; /* replaced under commit and sync, while nobody syncs
			    it; NULL: read-only */
	uint64_t log_id; /* of wal; protected by commit */
	uint64_t written_seq; /* in the log; protected by commit */
	uint64_t arena_room;  /* bytes that the memtable may take up to which
				  held room does for its flush; protected by
				  commit */
	_Atomic uint64_t spare_unit; /* bytes; see run/room.c; 0: not known */
	time_t rotated_s;            /* when what commits supersede was last
					given to a flush for its room; of the
					monotonic clock; protected by commit */
	atomic_bool room_wanted;     /* a write was refused for lack of room */
	_Atomic uint64_t vain_seq;   /* which was to be the next one when a wait
					for room was in vain; 0: none was */
	_Atomic uint64_t vain_ms;    /* when that was */
	atomic_bool dead_wanted;     /* see run/dead.h */
	atomic_bool history_wanted;  /* history files may go, see history.h */
	atomic_bool rules_changed;   /* since files of none were looked for */
	uint64_t rules_turn;         /* how often, in all; protected by lock */
	atomic_bool spare_short;     /* not all room could be held */
	atomic_bool spare_surplus;   /* more may be held than is needed */
	atomic_bool full;      /* data was refused for lack of room, and told */
	uint64_t unmarked_seq; /* of the first bulk load that the log does not
				  know of yet, nor of those after it up to
				  written_seq; 0: none; protected by commit */
	_Atomic uint64_t second_us; /* when the second of the last commit began,
					 by the clock; set under commit before
					 it is visible */
	_Atomic uint64_t synced_seq;  /* durable; set under sync */
	_Atomic uint64_t flushed_seq; /* from memtables to ssts; set under
					 work */
	_Atomic uint64_t visible_seq; /* that readers begin with; set under
					 commit, when the memtable has it */

	/* Protected by lock: */
	struct memtable *memtable; /* the present one; its content is written
				      under commit; set under both */
	struct memtable *immutables[IMMUTABLES_MAX]; /* oldest first */
	size_t immutable_count;
	struct wal *next_wal; /* made ahead of its rotation, and not named in
				 the manifest yet; or NULL */
	uint64_t next_log_id;
	struct version *version;  /* the manifest's, as published */
	struct engine_view *view; /* what a follower shows, or NULL: memtables
				     and version as here */
	struct gc_rules *rules;   /* NULL: not known yet */
	struct engine_snapshot *oldest, *newest;
	struct moments *moments;      /* NULL only while opening */
	struct engine_snapshot *past; /* those of moments */
	uint64_t moment_flags;        /* of the next one that is noted */
	struct lost_history {
		uint64_t from_us, until_us;
	} lost;            /* times whose moments were given up for lack of
			      room, by GC's clock; until_us 0: none was */
	bool is_recovered; /* logs have no more to say; set while
					 opening */
	uint64_t noted_us; /* the last one, or opening, by options.steady */
	struct clock_seen {
		uint64_t time_us;   /* of GC */
		uint64_t steady_us; /* by options.steady then; 0: never */
		uint64_t stuck_us;  /* since when what was written can have no
				       moment, as GC time stands; 0: it can */
	} seen;                     /* when moments were noted last */
	uint64_t told_us;           /* of the last one that the manifest has */
	uint64_t merged_us; /* GC time of the last merge: of what had expired by
			       then none is to be noted as of before */
	_Atomic uint64_t gc_time_us; /* never goes back; also read without */
	unsigned int gc_time_held;   /* nor on: see engine_hold_gc_time */
	struct unused_file *unused;  /* to be removed from the volume */
	size_t unused_count, unused_capacity;
	int trouble;            /* that background work has; 0 */
	char trouble_text[600]; /* of it or of error */

	/* Set before other threads know the engine, cleared after them. */
	void (*wake)(void *context); /* NULL: no background */
	void *wake_context;
	/* See store_on_wait; NULL: nothing. */
	void (*about_to_wait)(void *context);
	void *wait_context;

	struct pace pace;     /* of writers; has its own words on locks */
	struct guards guards; /* where flushes are cut; protected by work */
	bool guards_used;     /* by the merge under way; with work */
	bool dead_turn;  /* whose turn it was in background work; with work */
	bool asked_turn; /* whose in a compaction that was asked for; as well */
	atomic_bool at_rest; /* nobody has written for a second or two */
	atomic_bool idle;    /* nor for some more */
	/* Of engine_tick, which one thread calls. */
	struct engine_ticks {
		time_t second;       /* of the last one */
		uint64_t writes;     /* counters.writes then */
		unsigned int idle_s; /* since that changed */
		uint64_t looked_seq; /* up to that it was looked for what
					the memtable hides; 0: never */
	} tick;

	_Atomic uint64_t history_us, history_size; /* see history_keep */
	_Atomic uint64_t quota;                    /* see store_set_quota */
	_Atomic uint64_t history_asked; /* bytes that it is to give up */
	atomic_uint pin_count;          /* of backups under way */
	atomic_uint stuck_count;        /* files that could not be removed */
	_Atomic uint64_t loading_size;  /* bytes of bulk loads, as each tells */
	_Atomic int error; /* the first that made it read-only; 0 */
	struct engine_counters {
		_Atomic uint64_t flushes, compactions, trivial_moves;
		_Atomic uint64_t written_size, compacted_size; /* bytes */
		_Atomic uint64_t writes, syncs;
		_Atomic uint64_t flushed_size, merged_size; /* bytes */
		_Atomic uint64_t flush_us, compaction_us;
		_Atomic uint64_t stalls[STALLS], stall_us[STALLS], slowed_us;
		struct histogram sync_times;
	} counters;
	/* What is under way, and since when by the events' clock. */
	struct engine_now {
		_Atomic enum stall stalled; /* set with commit */
		_Atomic uint64_t stalled_since_us;
		_Atomic enum store_work work; /* set with work */
		_Atomic uint64_t work_since_us;
	} now;
};

/*
 * Applies edit and publishes the new version. Takes edits and lock. What edit
 * names is durable before. After a failure nothing of it has happened, unless
 * the store is read-only now: then it breaks an invariant, or it may be durable
 * or not. Edits about ssts, and those that drop blob files, are applied with
 * work held, so that what was chosen by a version still holds.
 */
int engine_apply(struct engine *e, struct edit *edit);

/* As engine_apply, of an edit whose ssts hold what is in m, the oldest memtable
 * that waits, which goes at the same moment: a reader sees one or the other, or
 * what adds up would be added twice. Puts m on success; NULL: there is none. */
int engine_apply_flush(struct engine *e, struct edit *edit, struct memtable *m);

/* The manifest's edits begin anew, without what former ones had: see
 * manifest_renew. Takes edits. */
int engine_renew_edits(struct engine *e);

/* The present version, with a reference for the caller. Takes lock. */
struct version *engine_version(struct engine *e);

/* An id that no file has; engine is a struct engine. Takes edits. */
uint64_t engine_new_id(void *engine);

/* The size of a memtable that comes after so many in an engine that only reads,
 * and so flushes none: as that of one, twice as large each time. */
size_t engine_unflushed_size(const struct engine *e, size_t count);

/* The time that GC goes by now, in us; it never goes back, whatever the clock
 * does, but that of a follower, which goes back as far as its owner's last
 * edit. Needs lock. */
uint64_t engine_gc_time(struct engine *e);
/* The time of what is written now: the clock's, but none before that of GC, by
 * which it would have expired when it is written, if the clock was ahead once.
 */
uint64_t engine_now(const struct engine *e);

/* Removes a file that nothing refers to; a failure is left for the next open,
 * and what err_detail() said stays. */
void engine_remove(struct engine *e, uint64_t id, const char *suffix);

#endif
