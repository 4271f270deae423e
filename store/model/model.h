#ifndef STORE_MODEL_MODEL_H
#define STORE_MODEL_MODEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/base/bg.h"
#include "store/engine/core/engine.h"
#include "store/format/key.h"
#include "store/store.h"

/*
 * The insides of a store, shared by the files of model/.
 *
 * The schema is data like any other: table 0 holds one cell a table, written
 * and recovered with everything else, at the same sequence as the change takes
 * effect.
 *
 *   row = table name, family "schema", qualifier "", timestamp 0:  its record
 *   row = "",         family "ids",    qualifier "", timestamp 0:  u32 next id
 *
 * A birth sequence of 0 in a record stands for the record's own sequence, which
 * is not known until it is written.
 */
#define SCHEMA_TABLE_ID 0
#define SCHEMA_FAMILY BYTES_LITERAL("schema")
#define SCHEMA_IDS_FAMILY BYTES_LITERAL("ids")

struct store {
	struct volume *volume;
	struct engine *engine;
	struct clock clock;
	size_t memtable_size;
	size_t large_size; /* values from this size on are large */
	struct bg *bg;
	/* One change at a time; held over what it reads and its log write, not
	 * over a sync. Before the engine's locks. */
	pthread_mutex_t writing;
	/* To take a reference, or with writing to change the pointer. */
	pthread_mutex_t schema_lock;
	_Atomic(struct schema *) schema;
	uint32_t next_table_id; /* protected by writing */
};

/* For tests, which step it and look into it. */
static inline struct engine *store_engine(struct store *s)
{
	return s->engine;
}

/* Writes what has been added and empties the batch. Readers see no difference,
 * so this need not be one with what it is done for. */
#define BURIED_AT_ONCE 1000

#endif
