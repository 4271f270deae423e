#ifndef STORE_MODEL_SCHEMA_RECORD_H
#define STORE_MODEL_SCHEMA_RECORD_H

#include "store/model/model.h"

/*
 * The byte form of one table's schema, which is the value of its cell in table
 * 0, and of what else is there: see schema_record.c for the bytes. Pure
 * functions; no byte that is read is trusted. The table's name is not in the
 * record but is its row.
 */

/* Appends the record. 0 or -ENOMEM. */
int table_encode(const struct table *table, struct buf *out);

/* Adds the table in record to schema; seq is the record's own, which a birth of
 * 0 stands for. -ENOMEM, -ERR_schema_malformed, -ERR_format_newer; then part of
 * the table may have been added, and schema is only good for being freed. */
int table_decode(struct schema *schema, struct bytes name, uint64_t seq,
		 struct bytes record);

/* Appends the record of one of the store's own attributes. 0 or -ENOMEM. */
int attribute_encode(struct bytes value, struct buf *out);

/* Makes *value, which is borrowed from record, the value of the attribute of
 * this name. -ERR_format_newer, -ERR_schema_malformed. */
int attribute_decode(struct bytes name, struct bytes record,
		     struct bytes *value);

/* Takes count attributes, each a sized name and a sized value, from the front
 * of *in; table is for the message, and empty for the store's own. -ENOMEM,
 * -ERR_schema_malformed. */
int attributes_decode(struct bytes table, uint64_t count, struct bytes *in,
		      struct attributes *out);

/* Makes key the version key of a record in table 0, see model.h. 0 or
 * -ENOMEM. */
int schema_record_key(struct bytes row, struct bytes family,
		      struct bytes qualifier, struct buf *key);

#endif
