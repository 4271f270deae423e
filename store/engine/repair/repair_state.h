#ifndef STORE_ENGINE_REPAIR_REPAIR_STATE_H
#define STORE_ENGINE_REPAIR_REPAIR_STATE_H

#include "store/engine/files/edit.h"
#include "store/engine/files/memtable.h"
#include "store/engine/log/wal_read.h"
#include "store/engine/repair/repair.h"

/* The insides of a repair, shared by repair.c and repair_find.c: one thread,
 * no lock. repair_find tells what is to be taken; repair.c takes it. */
struct repair {
	struct volume *from, *to;
	const struct engine_options *options;
	const struct repair_report *report;
	struct repair_result *result;
	struct cache *cache;      /* of blocks of ssts that are checked */
	struct identity identity; /* of from; nothing without a root */
	struct edit found;        /* what there is, or should be */
	struct edit state;        /* what the new store has */
	uint32_t epoch;           /* of the new store: after all that were */
	uint32_t next_number;     /* of files of this epoch */
	struct version *blobs; /* of the damaged store, that were taken over */
	bool has_manifest;
	bool any_order;       /* levels say nothing of which is newer */
	uint64_t load_seq;    /* for bulk loads of which it is not known */
	uint64_t flushed_seq; /* up to it, what is in logs is in ssts */
	/* Memtables are flushed in order. So if an sst has a sequence, logs
	 * have nothing before it that is not in an sst, unless it is that of a
	 * bulk load: but then they tell of it, until they are flushed, too.
	 * That helps if no log and no sst is damaged. */
	struct buf marks;   /* u64 sequences of the loads that logs tell of */
	uint64_t whole_seq; /* the newest in a whole sst, not of a load */
	bool logs_known;    /* each log that is there was read to its end */
	bool harmed;        /* an sst is missing, or was not whole */

	/* The sst under way. */
	struct sst_builder *builder; /* NULL: none begun */
	uint64_t id;                 /* its */
	uint32_t level;              /* where it is to go */
	uint64_t sst_seq;            /* the largest of its entries */
	uint64_t largest_seq;        /* of all ssts of the new store */
	int failed;                  /* to write a tombstone into it; 0 */
	struct buf raw, scratch;     /* a chunk, or a piece of a file */

	const char *log_path; /* of the log that is being taken */
	struct wal_replay log;
	struct buf taken; /* spans of the sequences of records that were */
	struct memtable *memtable; /* of log records; NULL: none yet */
};

#endif
