#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/admin.h"
#include "store/attributes.h"
#include "store/backup.h"
#include "store/base/buf.h"
#include "store/base/clock.h"
#include "store/base/err.h"
#include "store/base/memory.h"
#include "store/base/volume/volume.h"
#include "store/bulk_load.h"
#include "store/cell.h"
#include "store/estimate.h"
#include "store/events.h"
#include "store/filter.h"
#include "store/gc_policy.h"
#include "store/heat.h"
#include "store/history.h"
#include "store/inspect.h"
#include "store/large.h"
#include "store/purge.h"
#include "store/regex.h"
#include "store/repair.h"
#include "store/scan.h"
#include "store/schema.h"
#include "store/select.h"
#include "store/select_scan.h"
#include "store/stats.h"
#include "store/update.h"
#include "store/write.h"

/*
 * The store: instances, tables, families, rows and cells with Bigtable's
 * meaning. The contract with fs/ and tools/ is the pages store/NAME.h, which
 * this one includes. Read them in this order:
 *
 *   store.h       limits, opening and closing, durability, snapshots
 *   schema.h      what tables and families there are; with it gc_policy.h,
 *                 which versions of a column stay, and aggregate.h, families
 *                 whose cells are added to, and attributes.h, what users of
 *                 the store keep with a table
 *   admin.h       making and changing them
 *   cell.h        what reads give
 *   write.h       collecting mutations, committing them
 *   update.h      writes that depend on what is there; appending
 *                 and adding to columns
 *   scan.h        reading; with it filter.h and regex.h, what a scan gives
 *   select.h      what to read, as a user says it; select_scan.h reads it
 *   large.h       values that are read and written in pieces
 *   bulk_load.h   much data at once
 *   estimate.h, stats.h     what is told without reading the data
 *   heat.h        where in a table operations happen
 *   history.h     how much of the recent past is kept, for store_moment
 *   purge.h       rows that are erased from all files, the past's among them
 *   backup.h, repair.h      a second store: of a sound one, of a damaged one
 *   inspect.h     what the bytes of a file are, and where they are wrong
 *   events.h      lines about what the store does
 *
 * Beside these, others include of store/ only base/ and text/. The pages
 * include base/ alone.
 *
 * Names, keys and values are raw bytes. Timestamps are microseconds since 1970,
 * from 0 to INT64_MAX. A struct bytes passed to a call is borrowed for the call
 * unless its comment says otherwise.
 *
 * Calls return 0, or a count that is documented, or a negative error whose
 * reason is in err_detail(); -ENOMEM may come without one. They may come from
 * any thread, except that one scan, write, filter, bulk load or large_writer
 * belongs to one thread at a time.
 */
#define STORE_TABLE_NAME_MAX 50
#define STORE_INSTANCE_NAME_MAX 33
#define STORE_FAMILY_NAME_MAX 64
#define STORE_ROW_KEY_MAX 4096
#define STORE_QUALIFIER_MAX 16384
#define STORE_VALUE_MAX (UINT32_C(100) << 20)
#define STORE_TABLES_MAX 1000
#define STORE_FAMILIES_MAX 1000    /* of one table */
#define STORE_MUTATIONS_MAX 100000 /* of one commit */

struct store;

#define STORE_STALENESS_MS 2000
#define STORE_STALENESS_MAX_MS 3600000

/* Start from store_options_init. The struct is read by the open alone. */
struct store_options {
	bool create; /* make the store if there is none */
	/* Nothing is changed on the volume, which need not be writable: every
	 * write is refused with -ERR_store_readonly. Any number may have the
	 * store open so at once, but nobody to write meanwhile. With create, a
	 * store that is not there is still -ERR_not_a_store. */
	bool read_only;
	/* The same beside who writes it, without a lease: see store_refresh. */
	bool follow;
	unsigned int staleness_ms; /* with follow; 2,000 */
	/* Files that are no part of the store any more stay so long, for those
	 * who follow it; 0. */
	uint64_t reader_grace_us;
	bool background; /* run flushes and compactions by a thread */
	bool beside;     /* bulk loads use a second thread, which a call that
			    adds to one begins, and its end waits for */
	unsigned int sync_interval_ms; /* log is synced at least so often when
					   background; 0: only on request */
	size_t memtable_size;    /* bytes; there are at most two and a half */
	size_t cache_size;       /* bytes, of blocks, filters and indexes */
	uint64_t shared_size;    /* bytes, that all else shares: memory.h */
	uint64_t file_size;      /* bytes that an sst is to have */
	enum event_level events; /* at first, of the event log */
	/* Borrowed: what the event log tells goes there, too, each line with a
	 * mark of its level (sd-daemon(3)). A line that it does not take at
	 * once is left out there. -1: nowhere. */
	int events_fd;
	/* For tests; leave them 0: sizes as in engine.h. */
	size_t blob_threshold;
	uint32_t blob_chunk_size;
	uint64_t blob_file_size;
	unsigned int rows; /* for tests; leave it 0: row directories of ssts */
	unsigned int gap_steps; /* for tests; leave it 0: after how many cells
				   that are not visible a scan seeks */
	/* Line for whoever finds the store in use; NULL is an empty one. */
	const char *holder;
	unsigned int lease_wait_ms; /* see store_answerable; 30,000 */
	bool fresh; /* with create: -ERR_store_exists if there is one */
	const struct clock *clock; /* copied; its context must outlive s */
};

/* The defaults: 32 MiB of memtable and sst, 64 MiB of cache, synced each
 * second, with a background thread and the machine's clock. */
void store_options_init(struct store_options *o);

/* Sets both sizes so that memtables and cache take no more than size together;
 * the defaults are those of 144 MiB. size is at least STORE_MEMORY_MIN. All
 * else that can grow shares STORE_MEMORY_SHARED besides, whatever size is, by
 * the accounts of store/base/memory.h; with what a process is by itself that
 * makes no more than size and 64 MiB. */
#define STORE_MEMORY_MIN (UINT64_C(16) << 20)
#define STORE_MEMORY_SHARED (UINT64_C(48) << 20)
void store_options_memory(struct store_options *o, uint64_t size);

/*
 * The store in a local directory, or at KIND:PLACE (store/base/place/place.h),
 * or on any volume, which then is the store's to close, also on failure. *out
 * is NULL on failure. Errors, besides those of the system: -ERR_store_in_use
 * names the holder; -ERR_not_a_store; -ERR_format_newer; of damage
 * -ERR_manifest_damaged, -ERR_wal_damaged and others, with the file and the
 * offset. Damage is never repaired by opening.
 */
int store_open(const char *where, const struct store_options *o,
	       struct store **out);
int store_open_volume(struct volume *v, const struct store_options *o,
		      struct store **out);

/* Everything committed is durable when it returns 0. Ends s in every case. All
 * scans, snapshots, schemas, writes, bulk loads and large values must have been
 * given back. */
int store_close(struct store *s);

/* What opening found worth telling (a torn log tail was cut); "" mostly. Lives
 * as long as s. */
const char *store_recovery_text(const struct store *s);

/* A new line for whoever finds the store in use, which must be open for
 * writing. */
int store_describe(struct store *s, const char *holder);

/* Who holds how much memory, for those above to ask for theirs; as s, and all
 * that was taken is given back before s is closed. */
struct memory *store_memory(struct store *s);

/*
 * A descriptor of a new file without a name, on s's volume, for what memory has
 * no room for; to be given back by store_scratch_end. One user has at most a
 * quarter of the descriptors that the process may have, all have half of them,
 * so that the store always finds some: -ERR_scratch_full, with the reason. It
 * is of the user that this thread has named last, else of who runs the process.
 * Before data is written there, ask store_scratch_admit for so many bytes: 0,
 * or -ENOSPC when the rest of the disk is kept for compactions.
 */
int store_scratch(struct store *s);
void store_scratch_end(struct store *s, int fd);
void store_scratch_for(uint32_t user);
int store_scratch_admit(struct store *s, uint64_t size);

/* Whether what was read, or not found, by now may be told: asked for an answer
 * when all of it was read; that something was committed may be told by itself.
 * 0; -ESTALE of a store that another has. While it cannot be known whether
 * another has it this waits, or is -EAGAIN without wait, until it has not been
 * known for lease_wait_ms, whoever asked first; then it is -ESTALE, too. Of a
 * store that follows, what is too old is looked for once, and is -EAGAIN
 * without wait, else -ESTALE if that is in vain. Fast where there is nothing to
 * ask: of a directory. From any thread. */
int store_answerable(struct store *s, bool wait);

/* Milliseconds for which others may give such an answer again without asking:
 * what the volume's lease leaves, or of a store that follows what its staleness
 * does, and no longer than to its next look. UINT64_MAX where that is for ever.
 * Fast; from any thread. */
uint64_t store_answer_left(struct store *s);

/* Whether a commit, with sync or without, waits for more than memory before it
 * is done: who has others wait lets them go on first. */
bool store_commit_waits(const struct store *s, bool sync);

/* The volume that s is on, for its path and its space; s goes on owning it. */
struct volume *store_volume(struct store *s);

/* Makes durable everything committed before. */
int store_sync(struct store *s);
/* Waits until everything committed before survives a kill of the process: on a
 * directory it does at once. */
int store_settle(struct store *s);

/*
 * A snapshot is the store as it was at one moment, for reads to share; a read
 * that is given none takes the present. What it shows stays the same, whatever
 * is written, expires, is dropped or compacted: tables and families, their
 * policies and types are those of its moment (store_schema_at). A table is
 * found as store_table_id says: it is the one that has the name now, or, where
 * that was not there yet, the one that had it then. As long as it is held,
 * compaction keeps whatever it sees, so hold it for minutes, not days.
 */
struct snapshot;

int store_snapshot(struct store *s, struct snapshot **out);

/*
 * The store as it was at a time of the recent past, by what history is kept:
 * at each second of the last ten minutes, at each minute before, so this is the
 * last of these that is not after time_us. All is as it was then: schema,
 * policies, what had expired. -ERR_no_moment before the oldest, which it names.
 * Unlike a snapshot of now, it keeps nothing from being compacted. Where
 * history has to give way for space, what reads it fails with -ERR_moment_gone.
 */
int store_moment(struct store *s, uint64_t time_us, struct snapshot **out);

/* The same, also where nobody knows what was there from that moment to time_us,
 * as after a kill: for who looks for the last that has something. */
int store_last_moment(struct store *s, uint64_t time_us, struct snapshot **out);

/* The time of the moment that store_moment would find, without what it costs to
 * read there: 0 or -ERR_no_moment. */
int store_find_moment(struct store *s, uint64_t time_us, uint64_t *found_us);

/* The time of the moment that store_moment has found. */
uint64_t store_moment_time(const struct snapshot *moment);

/* The sequence of the last write that it sees. */
uint64_t store_snapshot_seq(const struct snapshot *snapshot);

/* Ends snapshot, which no open scan may be using; NULL is allowed. */
void store_snapshot_release(struct store *s, struct snapshot *snapshot);

/* The size in bytes from which on values are large, see large.h. */
size_t store_large_size(const struct store *s);

/* Everything on disk: reads and checks all of it. 0, or an error after each
 * problem was told to report: -ERR_check_failed, or what kept something from
 * being read, such as -EIO. */
int store_check(struct store *s,
		void (*report)(void *context, const char *problem),
		void *context);

/* Calls each with the name of every object beside the store that is of no use,
 * and does no harm; see volume.h. 0, or a negative result of each, or an
 * error. */
int store_strays(struct store *s,
		 int (*each)(void *context, const char *object), void *context);

/* Compacts a table, or with "" every table, to the lowest level, with garbage
 * collected. -ERR_no_table. */
int store_compact(struct store *s, struct bytes table);

/* Something was refused since s takes as much as it may, by a bound that only
 * the caller knows: in the background what was deleted is given back, as when
 * the disk is full. From any thread; does not wait. */
void store_want_room(struct store *s);

/* The same, and waits two seconds at most for what is given back, by history
 * size bytes, while fits says 0: what it says last, 1 or an error. 0 at once
 * where a wait was in vain and nothing was written since. Not in fits, nor with
 * a lock that it or a commit takes. */
int store_wait_for_room(struct store *s, uint64_t size,
			int (*fits)(void *context), void *context);

/* Called by a thread that is in a call of s and is about to wait there for
 * room, for two seconds at most: it can let others go on, and close what keeps
 * the past of s, but not wait itself. To be set before other threads use s. */
void store_on_wait(struct store *s, void (*about_to_wait)(void *context),
		   void *context);

/* Has silent called, by a thread of its own and every now and then, while the
 * volume has not answered for lease_wait_ms, until s is closed: its close, too,
 * waits for the volume until then, and what waits can be given up only with the
 * process. Nothing where a volume always answers. Once; 0 or an error. */
int store_on_silence(struct store *s, void (*silent)(void *context),
		     void *context);

/* A bound that only the caller knows, in bytes, 0: none. History gives way to
 * it, as to the disk's end, within a second or two. From any thread. */
void store_set_quota(struct store *s, uint64_t bytes);

/*
 * A store that follows: it shows what another process, its owner, commits
 * meanwhile, and takes no lease (store_options.follow). What it shows is always
 * a prefix of what was committed, it never goes back, and it is no older than
 * staleness_ms: with a background it is looked for four times as often. Where
 * that cannot be done, reads fail with -ESTALE and the reason. Snapshots stay
 * what they are for as long as they are held, whatever the owner merges; but a
 * file that is opened late, as those of the past are, may have gone by then
 * (-ESTALE), unless the owner has a reader_grace. Whatever would change
 * something is -ERR_store_readonly.
 *
 * Owners may come and go, and there may be none. If what was shown is lost, as
 * an owner's machine lost power before it was durable, or another store is
 * there now, all that is read is -ESTALE for good.
 */

/* Shows what has been committed by now: 0, or an error, and then what was shown
 * is shown on until it is too old. 0 of a store that does not follow. From any
 * thread; it waits for the volume. */
int store_refresh(struct store *s);

/* Whether what is shown is too old by now: a request begins with a refresh
 * then. Fast; false of a store that does not follow. */
bool store_is_behind(struct store *s);

/* changed is called by whatever thread refreshed s: when it shows something
 * new, and when it has become too old; it may not call s. To be set before
 * other threads use s, and NULL before context ends. */
void store_on_change(struct store *s, void (*changed)(void *context),
		     void *context);

#endif
