#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

#include "store/base/clock.h"
#include "store/base/volume.h"
#include "store/engine/batch.h"
#include "store/engine/gc.h"
#include "store/format/sst.h"

/*
 * The engine: an ordered, versioned map of encoded keys on a volume. It knows
 * keys, sequences, tombstones and GC rules, not what a schema is. All calls may
 * come from any thread, except that one cursor belongs to one thread at a time.
 *
 * There is no thread in here. engine_step does one unit of background work;
 * bg.h calls it in production and the simulator when its random numbers say so.
 */
struct engine;
struct engine_snapshot;
struct cursor;

struct engine_options {
	size_t memtable_size;        /* bytes of arena; 32 MiB */
	size_t cache_size;           /* blocks, filters, indexes; 64 MiB */
	uint64_t file_size;          /* target of an sst; 32 MiB */
	size_t blob_threshold;       /* values from this size; 64 KiB */
	uint32_t blob_chunk_size;    /* are stored in such pieces; 1 MiB */
	uint64_t blob_file_size;     /* when one is finished; 64 MiB */
	uint64_t blob_flush_size;    /* of large values, then the memtable is
					flushed, or their garbage would be met
					late; 128 MiB */
	unsigned int level0_trigger; /* compact, slow, stop: 4, 8, 12 */
	unsigned int level0_slow;
	unsigned int level0_stop;
	enum row_directory_rule rows; /* for tests */
	const struct clock *clock;
	const char *holder; /* of the lease, for people; may be NULL */
	bool create;
	bool read_only; /* no lease, no change; check uses it */
};

void engine_options_init(struct engine_options *o);

/* What recovery had to say, for people: how many records were replayed and
 * whether a torn tail was cut. Empty when there is nothing to tell. */
int engine_open(struct volume *v, const struct engine_options *o,
		struct engine **out);
const char *engine_recovery_text(const struct engine *e);
/* Flushes, if there is much to, and syncs and ends the log cleanly. Everything
 * written is durable when it returns 0, whether or not there was room to flush.
 * Ends e in every case; the volume stays the caller's. */
int engine_close(struct engine *e);
/* Ends e as if the process had died: nothing is synced. For tests. */
void engine_abandon(struct engine *e);

/*
 * Commits batch, whose records become visible together. On return 0 it is in
 * the log as far as the operating system; with sync it is durable. *seq, if not
 * NULL, is the sequence of its last record. -ENOSPC when the log cannot grow,
 * or the trouble that flushes have when the memory for what waits for them is
 * used up: nothing was written, and it may be tried again. -ERR_store_readonly
 * after an earlier failure to log.
 */
int engine_write(struct engine *e, struct batch *batch, bool sync,
		 uint64_t *seq);
/* Makes durable what was written before. */
int engine_sync(struct engine *e);
uint64_t engine_visible_seq(struct engine *e);

/* The rules that cursors and compactions from now on go by. Takes a reference.
 * Until the first call nothing is hidden and nothing dropped. */
void engine_set_rules(struct engine *e, struct gc_rules *rules);

/* One unit of background work: 1 if there was some, 0 if idle, or a negative
 * error. After -ENOSPC and the like nothing has changed and the next call tries
 * it again; after others, such as damage, the store is read-only. */
int engine_step(struct engine *e);
/* Flushes all memtables. */
int engine_flush(struct engine *e);
/* Flushes, then compacts [start, end) to the lowest level. */
int engine_compact_range(struct engine *e, struct bytes start,
			 struct bytes end);
/* Called, with no lock held, whenever there may be work for engine_step. */
void engine_on_work(struct engine *e, void (*wake)(void *context),
		    void *context);

/* A moment: visible sequence and GC time. Release it. */
int engine_snapshot(struct engine *e, struct engine_snapshot **out);
void engine_snapshot_release(struct engine *e, struct engine_snapshot *s);
uint64_t engine_snapshot_seq(const struct engine_snapshot *s);

/* Reads everything and checks it: 0, or an error after each problem was told to
 * report, one sentence each: -ERR_check_failed, or what kept something from
 * being read, such as -EIO or -ENOMEM. */
int engine_verify(struct engine *e,
		  void (*report)(void *context, const char *problem),
		  void *context);

struct engine_backup_result {
	uint64_t linked_count, copied_count; /* files */
	uint64_t size;                       /* bytes of them */
};

/* Makes of an empty volume a store that holds all that was written before,
 * while others go on to write. After a failure it is no store. */
int engine_backup(struct engine *e, struct volume *to,
		  struct engine_backup_result *result);

struct engine_stats {
	uint64_t sst_count[7];
	uint64_t sst_size[7];
	/* Of large values. Garbage: what nothing refers to, of files that no
	 * commit still in a memtable refers to. */
	uint64_t blob_count, blob_size, blob_garbage;
	uint64_t memtable_used, memtable_count;
	uint64_t cache_used, cache_hits, cache_misses;
	uint64_t flush_count, compaction_count, trivial_move_count;
	uint64_t written_size, compacted_size;
	uint64_t visible_seq, log_size, write_count, sync_count;
};

void engine_stats(struct engine *e, struct engine_stats *out);
/* 0, or why it cannot take writes for ever, if nothing changes: an error that
 * made it read-only, or the trouble that background work has. */
int engine_health(struct engine *e);

#endif
