#ifndef STORE_TEXT_TRACK_IMPORT_TABLE_H
#define STORE_TEXT_TRACK_IMPORT_TABLE_H

#include "store/store.h"

/*
 * By which number a position of an import knows its table. Where nothing was
 * loaded that is the table's id. But a load gives out ids anew, so a dump of a
 * store with positions tells each table's number as an attribute,
 *
 *   import-table   the number, decimal
 *
 * and where a table has that, such numbers count alone: then a table without
 * one, which came later, gets a number that no other has when it is imported
 * to first. A dump of an older program has none, so its positions are
 * nobody's: _imports is then marked with 0. From any thread.
 */
#define IMPORT_TABLE "import-table"

/* The number of a table of the schema; 0: it has none yet. */
uint64_t import_table_number(const struct schema *schema,
			     const struct table *t);

/* The same, and gives it one if it has none. -ERR_no_table, or what
 * store_set_attribute fails with. */
int import_table_claim(struct store *s, struct bytes table, uint64_t *out);

/* Whether a table of the schema has the number. */
bool import_table_is_there(const struct schema *schema, uint64_t number);

/* Whether a dump has to tell a number of the table that its attributes do not
 * tell, and which. */
bool import_table_dumped(const struct schema *schema, const struct table *t,
			 uint64_t *out);

#endif
