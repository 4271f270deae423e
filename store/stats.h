#ifndef STORE_STATS_H
#define STORE_STATS_H

#include "store/base/bytes.h"
#include "store/base/memory.h"

struct store;
struct histogram;

/* What writers wait for: memtables to be flushed, level 0 to be compacted, room
 * on the disk. */
enum stall { STALL_NONE, STALL_MEMTABLES, STALL_LEVEL0, STALL_ROOM, STALLS };

/* Its word, as in the event log; "" of STALL_NONE. */
const char *stall_word(enum stall cause);

/* What the background does. */
enum store_work { WORK_NONE, WORK_FLUSH, WORK_COMPACTION };

/* Counters since the store was opened, and what it holds now. Sizes are in
 * bytes. The figures are taken one after another, not at one moment. */
struct store_stats {
	/* By level, from those that may overlap to the lowest. */
	uint64_t sst_count[7];
	uint64_t sst_size[7];
	/* Of large values. Garbage: what nothing refers to, of files that no
	 * commit still in a memtable refers to. */
	uint64_t blob_count, blob_size, blob_garbage;
	/* Of the recent past: history files, with their large values, which
	 * are part of blob_size, and these alone; and since when it can be
	 * read; 0 if it cannot. What there was before history_lost_us was given
	 * up for lack of room; 0: nothing was. */
	uint64_t history_count, history_size, history_large_size;
	uint64_t history_since_us, history_lost_us;
	/* Of files that are no part of the store any more: a reader has them
	 * yet, or they are about to be removed. */
	uint64_t obsolete_size;
	/* Of bulk loads that are not published: in memory and in files. */
	uint64_t loading_size;
	uint64_t memtable_used, memtable_count;
	uint64_t cache_used, cache_hits, cache_misses;
	uint64_t memory[MEMORY_ACCOUNTS]; /* by account, see memory.h */
	uint64_t memory_limit;            /* of those that share one */
	uint64_t flush_count, compaction_count, trivial_move_count;
	uint64_t written_size;            /* by commits */
	uint64_t compacted_size;          /* of all inputs of compactions */
	uint64_t flushed_size;            /* of the ssts that flushes made */
	uint64_t merged_size;             /* and compactions */
	uint64_t flush_us, compaction_us; /* how long these took */
	uint64_t visible_seq;             /* of the last write that is seen */
	uint64_t log_size; /* of all logs that are not obsolete */
	uint64_t write_count, sync_count;
	/* How often writers were stopped, and for how long, by cause; for how
	 * long they were slowed. */
	uint64_t stall_count[STALLS], stall_us[STALLS], slowed_us;
	enum stall stalled;   /* what all writers wait for now */
	uint64_t stalled_us;  /* since when, as long as they do */
	double debt;          /* of the background: at 0.5 writers begin to be
				 slowed, at 1 they are stopped, or nearly */
	unsigned int depth;   /* ssts of level 0 above each other */
	enum store_work work; /* of the background now */
	uint64_t work_us;     /* since it began */
	/* By imports: rows committed, bytes taken, lines refused. */
	uint64_t import_rows, import_bytes, import_refused;
	/* Of a store that follows (store_refresh): how old what it shows is, up
	 * to visible_seq, and may be, and how often it was looked for; the
	 * second is 0 of any other. */
	uint64_t follow_age_us, follow_staleness_us, follow_looks;
};

void store_stats(struct store *s, struct store_stats *out);

/* How long syncs of the log took, as long as s is open. */
const struct histogram *store_sync_times(struct store *s);

/* What an import has done since it said so the last time. */
void store_note_import(struct store *s, uint64_t rows, uint64_t bytes,
		       uint64_t refused);

/* The sequence of the last write that is seen: it grows with each. */
uint64_t store_seq(struct store *s);

/* The place of that write: `id:epoch:sequence`, as store/README.md has it, with
 * zeros for the id of a store that has none yet. */
#define STORE_POSITION_SIZE 65
void store_position(struct store *s, char text[STORE_POSITION_SIZE]);

/* 0, or why it cannot take writes for ever, if nothing changes: an error that
 * made it read-only, or the trouble that background work has. */
int store_health(struct store *s);

#endif
