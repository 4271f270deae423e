#ifndef STORE_MODEL_ADMIN_H
#define STORE_MODEL_ADMIN_H

#include "store/model/model.h"

/*
 * What opening and repair need of schema changes; all else of admin.c is
 * store/admin.h.
 */

/* Reads the schema from table 0 and installs it, in the engine too; also finds
 * the next table id. At opening, before anybody else has s.
 * -ERR_schema_malformed, -ERR_format_newer, -ENOMEM, errors of reading. */
int schema_load(struct store *s);

/* For repair: adds a table with its id, families and their types, which are
 * copied, and without policies; all cells are seen, whenever they were written.
 * Durable when it returns 0. -ERR_table_exists, and errors of writing. */
int schema_adopt(struct store *s, const struct table *table);

#endif
