#ifndef STORE_MODEL_H
#define STORE_MODEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/engine/bg.h"
#include "store/engine/engine.h"
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

/* Schemas while they are made; not yet shared. */
int schema_new(struct schema **out);
/* A deep copy with one reference. */
int schema_copy(const struct schema *from, struct schema **out);
struct table *schema_find(struct schema *schema, struct bytes name);
const struct table *table_by_id(const struct schema *schema, uint32_t id);
/* Adds an empty table in its place; name is copied. */
int schema_add_table(struct schema *schema, struct bytes name,
		     struct table **out);
void schema_remove_table(struct schema *schema, struct table *table);
int table_add_family(struct table *table, const struct family_spec *spec,
		     struct family **out);
void table_remove_family(struct table *table, struct family *family);
struct family *table_find_family(struct table *table, struct bytes name);

/* Record of one table; see schema_record.c for the bytes. */
int table_encode(const struct table *table, struct buf *out);
/* Adds the table in record to schema; seq is the record's. */
int table_decode(struct schema *schema, struct bytes name, uint64_t seq,
		 struct bytes record);
/* What the engine has to know of it. */
int schema_rules(const struct schema *schema, struct gc_rules **out);

/* Reads the schema from table 0 and installs it. */
int schema_load(struct store *s);
/* Adds a table with its id, families and their types; all cells are seen. */
int schema_adopt(struct store *s, const struct table *table);

/* Deletions of what the GC rule hides now of the column with this encoded
 * prefix: adds them to out. Of a whole family: writes them. All need
 * s->writing. */
int bury_column(struct store *s, struct bytes column, struct batch *out);
/* Writes what has been added and empties the batch. Readers see no difference,
 * so this need not be one with what it is done for. */
#define BURIED_AT_ONCE 1000
int bury_now(struct store *s, struct batch *batch);
int bury_family(struct store *s, uint32_t table, struct bytes family);

/* Commits with s->writing held, without syncing. seq as in store_update_seq. */
int commit_locked(struct store *s, struct write *w, uint64_t *seq);

/* With s->writing held: checks w against the schema of now and gives it its
 * time. The batch is w's. */
int write_settle(struct write *w, const struct batch **batch);

#endif
