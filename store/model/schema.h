#ifndef STORE_MODEL_SCHEMA_H
#define STORE_MODEL_SCHEMA_H

#include "store/model/model.h"

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

/* What the engine has to know of it. */
int schema_rules(const struct schema *schema, struct gc_rules **out);

#endif
