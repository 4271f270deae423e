#ifndef STORE_MODEL_SCHEMA_RECORD_H
#define STORE_MODEL_SCHEMA_RECORD_H

#include "store/model/model.h"

/* Record of one table; see schema_record.c for the bytes. */
int table_encode(const struct table *table, struct buf *out);

/* Adds the table in record to schema; seq is the record's. */
int table_decode(struct schema *schema, struct bytes name, uint64_t seq,
		 struct bytes record);

#endif
