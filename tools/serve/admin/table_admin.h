#ifndef TOOLS_SERVE_ADMIN_TABLE_ADMIN_H
#define TOOLS_SERVE_ADMIN_TABLE_ADMIN_H

#include "tools/serve/admin/admin_call.h"

/* The methods of BigtableTableAdmin that there are. Tables that are made so
 * have timestamps of milliseconds, as Bigtable's. */
enum call_result create_table(struct call *c, void *context);
enum call_result list_tables(struct call *c, void *context);
enum call_result get_table(struct call *c, void *context);
/* Answers with the table of this name, see admin_answer. */
int table_get(struct admin_call *a, struct bytes name);
enum call_result update_table(struct call *c, void *context);
enum call_result delete_table(struct call *c, void *context);
enum call_result modify_column_families(struct call *c, void *context);
enum call_result drop_row_range(struct call *c, void *context);

/* There are no replicas, so a token says nothing and is consistent. */
enum call_result generate_consistency_token(struct call *c, void *context);
enum call_result check_consistency(struct call *c, void *context);

#endif
