#ifndef TOOLS_SERVE_ADMIN_WIRE_TABLE_H
#define TOOLS_SERVE_ADMIN_WIRE_TABLE_H

#include "store/store.h"
#include "tools/serve/proto/messages.h"

/* How much of a table an answer has: Table.View. */
enum table_view {
	TABLE_VIEW_UNSPECIFIED = 0,
	TABLE_NAME_ONLY = 1,
	TABLE_SCHEMA = 2,
	TABLE_REPLICATION = 3,
	TABLE_FULL = 4,
	TABLE_ENCRYPTION = 5,
};

#define TABLE_MILLIS 1 /* of Table.TimestampGranularity */

/* Fills *out from t, a table of the schema, whose name is instance/tables/NAME,
 * with its name within the instance. What it refers to is the arena's and the
 * schema's. 0, -E2BIG, -ENOMEM. */
int wire_table(const struct schema *schema, const struct table *t,
	       struct bytes instance, enum table_view view,
	       struct proto_arena *arena, struct proto_table *out);

#endif
