#ifndef STORE_STATS_H
#define STORE_STATS_H

#include "store/base/bytes.h"
#include "store/base/memory.h"

struct store;

/* Counters since the store was opened, and what it holds now. Sizes are in
 * bytes. The figures are taken one after another, not at one moment. */
struct store_stats {
	/* By level, from those that may overlap to the lowest. */
	uint64_t sst_count[7];
	uint64_t sst_size[7];
	/* Of large values. Garbage: what nothing refers to, of files that no
	 * commit still in a memtable refers to. */
	uint64_t blob_count, blob_size, blob_garbage;
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
	uint64_t written_size;   /* by commits */
	uint64_t compacted_size; /* of all inputs of compactions */
	uint64_t visible_seq;    /* of the last write that is seen */
	uint64_t log_size;       /* of all logs that are not obsolete */
	uint64_t write_count, sync_count;
};

void store_stats(struct store *s, struct store_stats *out);

/* The sequence of the last write that is seen: it grows with each. */
uint64_t store_seq(struct store *s);

/* 0, or why it cannot take writes for ever, if nothing changes: an error that
 * made it read-only, or the trouble that background work has. */
int store_health(struct store *s);

#endif
