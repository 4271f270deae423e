#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdatomic.h>

#include "store/base/buf.h"
#include "store/base/clock.h"
#include "store/base/err.h"
#include "store/base/volume.h"
#include "store/engine/bg.h"
#include "store/engine/cursor.h"
#include "store/engine/gc.h"
#include "store/engine/large.h"
#include "store/engine/repair.h"
#include "store/model/filter.h"
#include "store/model/regex.h"

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
/* Stands for the time of the commit. */
#define STORE_NOW UINT64_MAX

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
	enum row_directory_rule rows; /* for tests; leave it 0 */
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
struct engine *store_engine(struct store *s);
struct volume *store_volume(struct store *s);

/*
 * Schema. A struct schema is an immutable picture of all tables at one moment;
 * get one, look things up in it, put it back. Its pointers live as long as the
 * reference does.
 */
enum family_type {
	FAMILY_BYTES = 0,  /* no type */
	FAMILY_STRING = 1, /* stringutf8bytes */
	FAMILY_INTSUM = 2,
	FAMILY_INTMIN = 3,
	FAMILY_INTMAX = 4,
	FAMILY_INTHLL = 5,
};

struct family {
	struct bytes name;
	enum family_type type;
	uint64_t birth_seq;
	struct gc_policy *gc; /* owned; NULL keeps all */
};

/* Whose a table is, for a filesystem that shows it; each may be unset. */
#define TABLE_ACCESS_UNSET UINT32_MAX
struct table_access {
	uint32_t mode, uid, gid;
};

struct table {
	struct bytes name;
	uint32_t id; /* never used again */
	uint64_t birth_seq;
	uint64_t record_seq; /* of the last change to all this */
	bool millis;         /* timestamps are multiples of 1000 */
	struct table_access access;
	struct family *families; /* by name */
	size_t family_count;
};

struct schema {
	struct table *tables; /* by name */
	size_t table_count;
	uint64_t seq; /* grows with each change */
	atomic_uint references;
};

struct schema *store_schema(struct store *s);
void schema_put(struct schema *schema);
/* NULL if there is none. */
const struct table *schema_table(const struct schema *schema,
				 struct bytes name);
const struct family *table_family(const struct table *table, struct bytes name);
/* The policy in force; NULL keeps all. */
const struct gc_policy *family_gc(const struct family *family);
static inline bool family_is_aggregate(const struct family *f)
{
	return f->type >= FAMILY_INTSUM;
}
static inline enum aggregate_kind family_aggregate(const struct family *f)
{
	return f->type < FAMILY_INTSUM
		       ? AGGREGATE_NONE
		       : (enum aggregate_kind)(f->type - FAMILY_INTSUM +
					       AGGREGATE_SUM);
}

/* For createtable: a family to start with. */
struct family_spec {
	struct bytes name;
	const struct gc_policy *gc; /* borrowed */
	enum family_type type;
};

/* Each is durable when it returns 0. Errors: no_table, table_exists, bad_name,
 * name_too_long, too_many_tables, no_family, family_exists, too_many_families,
 * type_immutable, table_not_empty. */
int store_create_table(struct store *s, struct bytes name, bool millis,
		       const struct family_spec *families, size_t count);
/* With only_empty, -ERR_table_not_empty if a row has a cell. */
int store_drop_table(struct store *s, struct bytes name, bool only_empty);
int store_rename_table(struct store *s, struct bytes from, struct bytes to);
int store_set_granularity(struct store *s, struct bytes table, bool millis);
/* What is unset in access stays as it is. */
int store_set_access(struct store *s, struct bytes table,
		     const struct table_access *access);
int store_create_family(struct store *s, struct bytes table,
			const struct family_spec *family);
int store_drop_family(struct store *s, struct bytes table, struct bytes family);
int store_set_gc(struct store *s, struct bytes table, struct bytes family,
		 const struct gc_policy *gc);
int store_set_type(struct store *s, struct bytes table, struct bytes family,
		   enum family_type type);

/*
 * Writes. A write collects mutations of one or many rows, which commit
 * together, all or nothing, in the order they were added. Each call below
 * checks its arguments and, on an error, adds nothing.
 */
struct write;

int write_new(struct store *s, struct write **out);
void write_free(struct write *w);
/* Forgets what was collected. */
void write_reset(struct write *w);
size_t write_count(const struct write *w); /* mutations so far */
size_t write_size(const struct write *w);  /* bytes so far */
/* A mark to return to, so that a row that turns out wrong leaves nothing. */
struct write_mark {
	size_t data_size, now_size;
	uint32_t count, range_count, blob_count, hidden_count;
};

struct write_mark write_mark(const struct write *w);
void write_rewind(struct write *w, struct write_mark mark);

/* The mutations that follow are of this row. -ERR_no_table, row_key_*. */
int write_row(struct write *w, struct bytes table, struct bytes row);
/* timestamp may be STORE_NOW: the time of the commit, the same for all.
 * -ERR_no_family, bad_timestamp, qualifier_too_long, value_too_large,
 * type_mismatch for an aggregate family. */
int write_set(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, struct bytes value);
/* The same with a large value, of which nothing is copied. */
int write_set_large(struct write *w, struct bytes family,
		    struct bytes qualifier, uint64_t timestamp_us,
		    struct large *value);
/* The same with the value of a cell that a scan has given last. */
struct scan;
struct cell;
int write_set_cell(struct write *w, struct bytes family, struct bytes qualifier,
		   uint64_t timestamp_us, struct scan *scan,
		   const struct cell *cell);
/*
 * Of an aggregate family: Bigtable's AddToCell and MergeToCell. A number, or a
 * state as it is read, is merged into that of the version with this timestamp,
 * which is as if nothing had been added before if there is none. What a state
 * is says aggregate.h. Errors as above; -ERR_type_mismatch for a family that is
 * not of an aggregate type, or bytes that are no state of its.
 */
int write_add(struct write *w, struct bytes family, struct bytes qualifier,
	      uint64_t timestamp_us, int64_t number);
int write_merge(struct write *w, struct bytes family, struct bytes qualifier,
		uint64_t timestamp_us, struct bytes state);
/* Versions with from <= timestamp < to; to 0 is unbounded. -ERR_bad_timestamp
 * if from >= to. A missing column is no error, an unknown family is. */
int write_delete_cells(struct write *w, struct bytes family,
		       struct bytes qualifier, uint64_t from_us,
		       uint64_t to_us);
int write_delete_column(struct write *w, struct bytes family,
			struct bytes qualifier);
int write_delete_family(struct write *w, struct bytes family);
int write_delete_row(struct write *w);
/* All rows with the prefix, whatever write_row said. An empty one is refused,
 * -ERR_bad_argument, so that a slip does not empty a table. */
int write_delete_prefix(struct write *w, struct bytes table,
			struct bytes prefix);
/* All rows with start <= key < end; each may be empty: open. With both empty,
 * all rows of the table. */
int write_delete_range(struct write *w, struct bytes table, struct bytes start,
		       struct bytes end);

/* Commits w and empties it. With sync, durable on return. A table or family
 * dropped meanwhile: -ERR_no_table, -ERR_no_family, and nothing is written. */
int store_commit(struct store *s, struct write *w, bool sync);
/* Durable: everything committed before. */
int store_sync(struct store *s);

/*
 * A bulk load: writes that only set cells, of any rows, built into ssts beside
 * the log. Nothing of it is seen before it is published, then all of it,
 * durably and as if written at that moment. For much data: it costs a few
 * syncs, and as much memory as a memtable and half.
 */
struct bulk_load;

int store_bulk_begin(struct store *s, struct bulk_load **out);
/* Takes what w has collected and empties it: 1; or 0, and w is as it was, if
 * not all of it sets cells. Errors as those of store_commit. */
int store_bulk_add(struct bulk_load *load, struct write *w);
/* -ERR_no_table, -ERR_no_family if something it needs was dropped meanwhile;
 * then nothing of it is written. After success it is empty and may go on. */
int store_bulk_publish(struct bulk_load *load);
/* What was not published is gone. */
void store_bulk_free(struct bulk_load *load);

/*
 * Reads. A snapshot sees the store as it is when taken; without one, a scan
 * takes its own. It pins files, so hold it for minutes, not days.
 */
struct snapshot;

int store_snapshot(struct store *s, struct snapshot **out);
/* The sequence of the last write that it sees. */
uint64_t store_snapshot_seq(const struct snapshot *snapshot);
void store_snapshot_release(struct store *s, struct snapshot *snapshot);

/*
 * What to scan: the rows start <= key < end (empty: open), or, if row is not
 * empty, only that row, of it only one family if has_family, and of that only
 * one column if has_qualifier.
 */
#define STORE_STOP_CELLS 1024
struct scan_range {
	struct bytes table;
	struct bytes start, end;
	struct bytes row;
	bool has_family, has_qualifier;
	struct bytes family, qualifier;
	bool reverse; /* rows descend; cells inside a row do not */
	/* If not NULL, the scan gives what this lets pass; a row of which that
	 * is nothing is absent. It lives as long as the scan and is no other's.
	 * All steps are about what comes out of it, which may hold copies. */
	struct filter *filter;
	/* Versions with a smaller timestamp are not wanted; some may be given.
	 * With newer data apart from older, this saves reading the latter. */
	uint64_t since_us;
	/* Rows are all that is wanted: every step is CURSOR_ROW, and of a cell
	 * only row is good for anything. */
	bool rows_only;
	/* If not NULL, asked every STORE_STOP_CELLS cells that the scan passes,
	 * those that it does not give included; once it is true, the scan ends
	 * with -EINTR. */
	bool (*stop)(void);
	/* Large values are not read: of such a cell value is empty, and
	 * cell_size and scan_open_large tell of it. */
	bool keep_large;
};

struct scan;

/* -ERR_no_table; an unknown family is an empty scan. */
int scan_open(struct store *s, const struct snapshot *snapshot,
	      const struct scan_range *range, struct scan **out);
void scan_close(struct scan *scan);
/* As cursor_next: 1 with *cell, 0 at the end, negative on error. In a reverse
 * scan only CURSOR_ROW moves to another row; the other steps end (0) with the
 * row, and scan_next(CURSOR_ROW) goes on. */
int scan_next(struct scan *scan, enum cursor_step step, struct cell *cell);
/* What a filter labelled the cell given last; mostly empty. */
struct bytes scan_label(const struct scan *scan);
/* Continues with the first row at or after (reverse: at or before) row. */
int scan_seek(struct scan *scan, struct bytes row, struct cell *cell);

/* The newest version of a column: 1 with *cell, whose value lives in memory,
 * which the caller releases, and whose names are the arguments; 0 if there is
 * none. */
int store_get(struct store *s, const struct snapshot *snapshot,
	      struct bytes table, struct bytes row, struct bytes family,
	      struct bytes qualifier, struct cell *cell, struct buf *memory);

/* As store_get, but a large value is not read: *large is it, to be put, and
 * cell->value empty. Else *large is NULL. */
int store_get_large(struct store *s, const struct snapshot *snapshot,
		    struct bytes table, struct bytes row, struct bytes family,
		    struct bytes qualifier, struct cell *cell,
		    struct buf *memory, struct large **large);
/* Appends the value of the cell given last, large or not. */
int scan_load(struct scan *scan, const struct cell *cell, struct buf *out);
/* The value of the cell given last, which has a blob. -ESTALE: it has been
 * collected since the scan began. */
int scan_open_large(struct scan *scan, const struct cell *cell,
		    struct large **out);
/* Values from this size on are large. */
size_t store_large_size(const struct store *s);

/* Whether the row has any cell: 1, 0 or an error. */
int store_row_exists(struct store *s, struct bytes table, struct bytes row);
/* About how many rows there are with start <= key < end (empty: open), without
 * reading them. Deleted ones may count, and those changed since the last
 * compaction more than once. */
int store_estimate_rows(struct store *s, struct bytes table, struct bytes start,
			struct bytes end, uint64_t *rows);

/* Bigtable's SampleRowKeys: rows that part the range into pieces with about as
 * much data each, for whoever reads them side by side. Calls each with such
 * rows, in order, and the bytes stored before each; then with an empty row and
 * the bytes of all. A negative result of each ends it and is returned. */
int store_sample_rows(struct store *s, struct bytes table, struct bytes start,
		      struct bytes end,
		      int (*each)(void *context, struct bytes row,
				  uint64_t size),
		      void *context);

/*
 * Updates: what is written depends on what is there. store_update calls decide
 * with no other commit under way. It reads what it needs, fills w, and returns
 * 0 to commit w or a negative error, which is returned and commits nothing.
 * decide must not commit by itself. STORE_NOW is one moment for all of it.
 * *seq, if not NULL, is set to the sequence of what was written if that is one
 * record, else to 0.
 */
int store_update_seq(struct store *s,
		     int (*decide)(void *context, struct write *w),
		     void *context, bool sync, uint64_t *seq);
static inline int store_update(struct store *s,
			       int (*decide)(void *context, struct write *w),
			       void *context, bool sync)
{
	return store_update_seq(s, decide, context, sync, NULL);
}

/*
 * The rest is for decide. A view shows the store as it will be with what w has
 * collected; it is w's and holds until the next call on w, after which also no
 * earlier write_mark is good any more. Reads without one see what is there
 * without w.
 */
int write_view(struct write *w, const struct snapshot **out);
/*
 * One more version of a column, made of its newest one as the view shows it: at
 * the time of the update or, if that is later, in place of the newest. Older
 * versions stay. A missing one is empty or 0. An increment takes and makes a
 * signed 64-bit big-endian value and wraps around. cell, if not NULL, is the
 * new version, its value w's until the next call on w. Errors as of write_set,
 * and -ERR_not_a_number if there is a value that is not 8 bytes.
 */
int write_append(struct write *w, struct bytes family, struct bytes qualifier,
		 struct bytes value, struct cell *cell);
int write_increment(struct write *w, struct bytes family,
		    struct bytes qualifier, int64_t amount, struct cell *cell);
/* As write_add, to the newest version, or one at the time of the update if
 * there is none. */
int write_add_newest(struct write *w, struct bytes family,
		     struct bytes qualifier, int64_t number);

/* Bigtable's ReadModifyWriteRow: the rules in order. */
struct modify_rule {
	struct bytes family, qualifier;
	bool is_increment;
	struct bytes value; /* to append */
	int64_t amount;     /* to add */
};

/* cells, room for count, is set to the new versions in scan order, and their
 * number is returned; their values live in memory, the rest is as in the rules.
 * -ERR_bad_argument without rules. */
int store_modify(struct store *s, struct bytes table, struct bytes row,
		 const struct modify_rule *rules, size_t count, bool sync,
		 struct cell *cells, struct buf *memory);

/*
 * Bigtable's CheckAndMutateRow: if the filter, NULL being one that passes all,
 * lets any cell of the row pass, w is filled by if_true, else by if_false; one
 * of them may be NULL and changes nothing. The row is named already. The filter
 * sees all versions. *matched tells which it was.
 */
struct row_check {
	struct bytes table, row;
	struct filter *filter;
	int (*if_true)(void *context, struct write *w);
	int (*if_false)(void *context, struct write *w);
	void *context;
};

int store_check_and_mutate(struct store *s, const struct row_check *check,
			   bool sync, bool *matched);

/* Everything on disk: reads and checks all of it. 0, or an error after each
 * problem was told to report: -ERR_check_failed, or what kept something from
 * being read, such as -EIO. */
int store_check(struct store *s,
		void (*report)(void *context, const char *problem),
		void *context);
/* All of it to the lowest level, garbage collected; "" is every table. */
int store_compact(struct store *s, struct bytes table);

/* Makes a directory with a store that holds what this one does at some moment
 * of the call; files are linked where that is possible. -EEXIST. What a failure
 * leaves is named DIRECTORY.partial. */
struct engine_backup_result;
int store_backup(struct store *s, const char *directory,
		 struct engine_backup_result *result);

/*
 * Makes a new store of all that can be read of a damaged one, which is left as
 * it is; files are linked where that is possible. tell is given a sentence
 * about each loss. 0 however little was left; -EEXIST, -ERR_store_in_use,
 * -ERR_not_a_store if there is nothing of one, -ERR_check_failed. It is named
 * TO.partial, which must not be there either, until it is whole; a failure
 * leaves nothing of it, unless it is that of the check.
 */
int store_repair(const char *directory, const char *to,
		 void (*tell)(void *context, const char *text), void *context,
		 struct repair_result *result);
/* The same of volumes; to passes to it. */
int store_repair_volume(struct volume *from, struct volume *to,
			void (*tell)(void *context, const char *text),
			void *context, struct repair_result *result);

/* Rules for names: 0, -ERR_bad_name or -ERR_name_too_long, with the reason. */
int store_check_table_name(struct bytes name);
int store_check_family_name(struct bytes name);

#endif
