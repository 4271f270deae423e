#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/admin.h"
#include "store/backup.h"
#include "store/base/buf.h"
#include "store/base/clock.h"
#include "store/base/err.h"
#include "store/base/volume/volume.h"
#include "store/bulk_load.h"
#include "store/cell.h"
#include "store/estimate.h"
#include "store/filter.h"
#include "store/gc_policy.h"
#include "store/large.h"
#include "store/regex.h"
#include "store/repair.h"
#include "store/scan.h"
#include "store/schema.h"
#include "store/stats.h"
#include "store/update.h"
#include "store/write.h"

/*
 * The store: instances, tables, families, rows and cells with Bigtable's
 * meaning. This is the whole contract for fs/ and tools/; nothing else of
 * store/ is theirs to include, but base/ and text.h. Threads of theirs start
 * through bg.h, which it includes.
 *
 * Names and keys are raw bytes. Timestamps are microseconds since 1970, from 0
 * to INT64_MAX. Calls return 0 (or a documented count) or a negative error
 * with err_detail() set, and may come from any thread, except that one scan or
 * one write belongs to one thread at a time.
 */
#define STORE_TABLE_NAME_MAX 50
#define STORE_FAMILY_NAME_MAX 64
#define STORE_ROW_KEY_MAX 4096
#define STORE_QUALIFIER_MAX 16384
#define STORE_VALUE_MAX (UINT32_C(100) << 20)
#define STORE_TABLES_MAX 1000
#define STORE_FAMILIES_MAX 1000
#define STORE_MUTATIONS_MAX 100000

struct store;

struct store_options {
	bool create; /* make the store if there is none */
	bool read_only;
	bool background; /* run flushes and compactions by a thread */
	unsigned int sync_interval_ms; /* log is synced at least so often when
					   background; 0: only on request */
	size_t memtable_size; /* bytes; there are at most two and a half */
	size_t cache_size;
	uint64_t file_size;
	/* For tests; leave them 0: sizes as in engine.h. */
	size_t blob_threshold;
	uint32_t blob_chunk_size;
	uint64_t blob_file_size;
	unsigned int rows;  /* for tests; leave it 0: row directories of ssts */
	const char *holder; /* line for whoever finds the store in use */
	const struct clock *clock;
};

void store_options_init(struct store_options *o);
/* Sets both sizes so that memtables and cache take no more than size together;
 * the defaults are those of 144 MiB. What else a store needs grows with its
 * files, some 1 KiB each, and with open scans. */
#define STORE_MEMORY_MIN (UINT64_C(16) << 20)
void store_options_memory(struct store_options *o, uint64_t size);

/* The store in a local directory, or on any volume, which then is the store's
 * to close, also on failure. */
int store_open(const char *directory, const struct store_options *o,
	       struct store **out);
int store_open_volume(struct volume *v, const struct store_options *o,
		      struct store **out);
/* Everything committed is durable when it returns 0. Ends s in every case. All
 * scans, snapshots, schemas and writes must have been given back. */
int store_close(struct store *s);
/* What opening found worth telling (a torn log tail was cut); "" mostly. */
const char *store_recovery_text(const struct store *s);
/* A new line for whoever finds the store in use. */
int store_describe(struct store *s, const char *holder);
struct volume *store_volume(struct store *s);

/* Durable: everything committed before. */
int store_sync(struct store *s);

/*
 * Reads. A snapshot sees the store as it is when taken; without one, a scan
 * takes its own. It pins files, so hold it for minutes, not days.
 */
struct snapshot;

int store_snapshot(struct store *s, struct snapshot **out);
/* The sequence of the last write that it sees. */
uint64_t store_snapshot_seq(const struct snapshot *snapshot);
void store_snapshot_release(struct store *s, struct snapshot *snapshot);

/* Values from this size on are large. */
size_t store_large_size(const struct store *s);

/* Everything on disk: reads and checks all of it. 0, or an error after each
 * problem was told to report: -ERR_check_failed, or what kept something from
 * being read, such as -EIO. */
int store_check(struct store *s,
		void (*report)(void *context, const char *problem),
		void *context);
/* All of it to the lowest level, garbage collected; "" is every table. */
int store_compact(struct store *s, struct bytes table);

#endif
