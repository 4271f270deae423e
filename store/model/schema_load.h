#ifndef STORE_MODEL_SCHEMA_LOAD_H
#define STORE_MODEL_SCHEMA_LOAD_H

#include "store/model/schema.h"

/* Reads the schema from table 0 and installs it, in the engine too; also finds
 * the next table id. At opening, before anybody else has s.
 * -ERR_schema_malformed, -ERR_format_newer, -ENOMEM, errors of reading. */
int schema_load(struct store *s);

/* The rules of a moment, which have its schema: read from table 0 there.
 * snapshot's own rules are not asked. As schema_load. */
struct engine_snapshot;
int schema_load_at(struct store *s, const struct engine_snapshot *snapshot,
		   struct gc_rules **out);

/* Publishes fresh, which a look has found, with the schema that it has, as
 * follow_publish and schema_install. Ends fresh in every case. As schema_load.
 */
int schema_follow(struct store *s, struct engine_snapshot *fresh);

/* How much history is to be kept by a schema: the store's attribute
 * STORE_HISTORY, varint keep_us | varint max_size. Without it, or with another
 * value, 0 of both. */
void schema_history(const struct schema *schema, uint64_t *keep_us,
		    uint64_t *max_size);

/* Makes schema the one in force, and rules, which are its, the engine's: takes
 * over the references to both. Cannot fail, so that what is in the log is in
 * force. Needs writing, or that nobody else has s. */
void schema_install(struct store *s, struct schema *schema,
		    struct gc_rules *rules);

#endif
