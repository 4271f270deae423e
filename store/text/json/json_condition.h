#ifndef STORE_TEXT_JSON_JSON_CONDITION_H
#define STORE_TEXT_JSON_JSON_CONDITION_H

#include "store/text/json/json_value.h"

/*
 * Whether the "if" of a mutation, n, holds for the row: 1, 0 or an error, as
 * the ask of a row_condition. It is one condition, or a list of which all must
 * hold. It sees what is committed. Uses m->key. Errors: -ERR_bad_line,
 * -ERR_bad_argument of a regex or filter, -ERR_no_table, -ERR_no_family, or
 * those of reading.
 */
int json_condition(struct store *s, struct mutation *m,
		   const struct json_node *n, struct bytes table,
		   struct bytes row, struct condition_watch *watch);

#endif
