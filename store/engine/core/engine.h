#ifndef STORE_ENGINE_CORE_ENGINE_H
#define STORE_ENGINE_CORE_ENGINE_H

#include "store/base/clock.h"
#include "store/base/volume/volume.h"
#include "store/engine/compact/gc.h"
#include "store/engine/files/batch.h"
#include "store/format/sst/sst.h"
#include "store/events.h"
#include "store/stats.h"

/*
 * The engine: an ordered, versioned map of encoded keys on a volume. It knows
 * keys, sequences, tombstones and GC rules, not what a schema is. All calls may
 * come from any thread, except that one cursor belongs to one thread at a time.
 *
 * There is no thread in here but those of bulk loads, if they may have any.
 * engine_step does one unit of background work; bg.h calls it in production and
 * the simulator when its random numbers say so.
 */
struct engine;
struct engine_snapshot; /* a moment to read at */
struct cursor;

/* Numbers in comments are those of engine_options_init; sizes are in bytes. */
struct engine_options {
	size_t memtable_size;        /* of a memtable's arena; 32 MiB, and
				        less on a small disk */
	size_t cache_size;           /* blocks, filters, indexes; 64 MiB */
	uint64_t shared_size;        /* what else shares; 48 MiB; memory.h */
	uint64_t file_size;          /* target of an sst; 32 MiB */
	size_t blob_threshold;       /* values from this size; 64 KiB */
	uint32_t blob_chunk_size;    /* are stored in such pieces; 1 MiB */
	uint64_t blob_file_size;     /* when one is finished; 64 MiB */
	uint64_t blob_flush_size;    /* of large values, then the memtable is
					flushed, or their garbage would be met
					late; 128 MiB */
	unsigned int level0_trigger; /* so many files are compacted; 4 */
	unsigned int level0_slow;    /* writers go slower; 36 */
	unsigned int level0_stop;    /* and slowest; without a background, or
					at twice as many, they wait; 52 */
	unsigned int rows;           /* for tests: enum row_directory_rule */
	unsigned int gap_steps;      /* for tests: see gaps.h */
	const struct clock *clock;   /* outlives the engine */
	const struct clock *steady;  /* goes on as the time does and is never
					set; NULL: clock jumps as it likes */
	enum event_level events;     /* at first; EVENTS_MAIN */
	int events_fd;               /* as in store.h */
	bool beside;                 /* a bulk load may use a thread */
	const char *holder;          /* of the lease, for people; may be NULL */
	bool create;                 /* a store where there is none */
	bool read_only;              /* no change; the lease is shared */
	bool follow; /* with read_only: no lease; see follow/follow.h */
	unsigned int staleness_ms; /* with follow: how old it may be */
	uint64_t reader_grace_us;  /* as in store.h */
	bool fresh; /* with create: -ERR_store_exists where there is one */
};

#endif
