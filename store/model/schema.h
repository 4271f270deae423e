#ifndef STORE_MODEL_SCHEMA_H
#define STORE_MODEL_SCHEMA_H

#include "store/engine/compact/gc.h"
#include "store/model/model.h"

/*
 * Schemas as data structures: how one is made and changed before it is shared.
 * Once it is the store's, it is immutable and counted by references, see
 * store/schema.h. Nothing here takes a lock or writes; admin.c does. Limits and
 * names are not checked here. Pointers to tables and families end with the next
 * call that adds or removes one. Every int is 0 or -ENOMEM.
 */

/* An empty schema with one reference; put it to free it. */
int schema_new(struct schema **out);

/* A deep copy with one reference, which shares attributes with from. */
int schema_copy(const struct schema *from, struct schema **out);

/* A table by its name; NULL if there is none. */
struct table *schema_find(struct schema *schema, struct bytes name);

/* Adds a table without id and families in its place; name, which no table may
 * have yet, is copied. */
int schema_add_table(struct schema *schema, struct bytes name,
		     struct table **out);

/* Frees table, which is one of schema's. */
void schema_remove_table(struct schema *schema, struct table *table);

/* A family by its name; NULL if there is none. */
struct family *table_find_family(struct table *table, struct bytes name);

/* Adds a family without a birth in its place; spec, whose name no family of the
 * table may have yet, is copied. */
int table_add_family(struct table *table, const struct family_spec *spec,
		     struct family **out);

/* Frees family, which is one of table's. */
void table_remove_family(struct table *table, struct family *family);

/* Births and sequences of records and rules that are still 0 become seq, that
 * of a change's first record, which is what a reader of the records concludes
 * too: the record that changed is always the first. */
void schema_set_births(struct schema *schema, uint64_t seq);

/* What the engine has to know of it, with one reference; table 0 is there too.
 * It keeps the schema. */
int schema_rules(struct schema *schema, struct gc_rules **out);

#endif
