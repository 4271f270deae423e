#ifndef STORE_MODEL_MODEL_H
#define STORE_MODEL_MODEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/base/bg.h"
#include "store/engine/core/engine.h"
#include "store/format/key.h"
#include "store/model/guard/guard.h"
#include "store/model/recent/recent.h"
#include "store/model/recent/removed.h"
#include "store/model/sample/sample.h"
#include "store/store.h"

/*
 * The insides of a store, shared by the files of model/. The store is the
 * engine, which knows keys and sequences, and the schema, which says what they
 * mean.
 *
 * The schema is data like any other: table 0 holds one cell a table, written
 * and recovered with everything else, at the same sequence as the change takes
 * effect.
 *
 *   row = table name, family "schema", qualifier "", timestamp 0:  its record
 *   row = "",         family "ids",    qualifier "", timestamp 0:  u32 next id
 *   row = "", family "attributes", qualifier = name, timestamp 0:  one of the
 *                                                                  store's own
 *
 * A birth sequence of 0 in a record stands for the record's own sequence, which
 * is not known until it is written.
 */
#define SCHEMA_TABLE_ID 0
#define SCHEMA_FAMILY BYTES_LITERAL("schema")
#define SCHEMA_IDS_FAMILY BYTES_LITERAL("ids")
#define SCHEMA_ATTRIBUTES_FAMILY BYTES_LITERAL("attributes")

/* What a follower shows is looked for so many times in the time that it may be
 * old. */
#define STORE_LOOKS 4

/*
 * Locks, in the order in which they are taken: looking, writing, refreshing,
 * schema_lock, those of the engine. Readers take none of the first four but for
 * the moment in which they reference the schema.
 */
struct look;

struct store {
	/* Set at opening and never changed. */
	struct volume *volume; /* owned */
	struct engine *engine; /* owned; NULL only while opening has failed */
	struct clock clock;
	unsigned int lease_wait_ms;
	size_t memtable_size;   /* bytes; also of a bulk load's buffer */
	size_t large_size;      /* values from this size on are large */
	struct bg *bg;          /* NULL: nobody works in the background */
	struct sampler sampler; /* its heat has locks of its own, below all
				   others */

	pthread_mutex_t looking; /* one at a time: look.h */

	/* One change at a time, of data or schema; held over what it reads and
	 * its log write, not over a sync. */
	pthread_mutex_t writing;

	/* To take a reference, or with writing to change the pointer; so with
	 * writing held it may be read as it is. */
	pthread_mutex_t schema_lock;
	_Atomic(struct schema *) schema; /* referenced; never NULL once open */

	/* Of a store that follows: one look at a time, which may wait for the
	 * volume. It guards the next three. */
	pthread_mutex_t refreshing;
	bool is_late;                   /* what is shown is too old, and was
					   told to be */
	void (*changed)(void *context); /* NULL: nobody is told */
	void *changed_context;
	_Atomic uint64_t look_count;

	struct recent recent;
	struct removed removed;
	struct look *look; /* what notes commits, or NULL; protected by
			      writing */

	struct row_guards guards; /* protected by writing */

	/* Of files without a name: whose the descriptor is, and 1; 0: nobody's.
	 * Owned. */
	pthread_mutex_t scratch_lock; /* guards what follows */
	uint64_t *scratch_users;
	size_t scratch_room; /* of these */

	/* What store_note_import was told. */
	_Atomic uint64_t import_rows, import_bytes, import_refused;

	uint32_t next_table_id; /* greater than any used; protected by
				   writing */
	/* Since when it is not known who has the lease, 0: it is; and when that
	 * was seen last. By clock_steady. */
	_Atomic uint64_t unsure_ms, unsure_seen_ms;
	struct silence *silence; /* owned, or NULL */

	struct purge_holder purge_holder; /* without functions: nobody */
};

/* 0 if there is no store at a place that is no directory, or -EEXIST; it may
 * come right after, so that what needs it to be free must ask with the
 * lease. */
int backup_free_place(const char *where);

/* For repair, and for tests, which step it and look into it. */
static inline struct engine *store_engine(struct store *s)
{
	return s->engine;
}

#endif
