#ifndef STORE_TEXT_JSON_JSON_CONDITION_H
#define STORE_TEXT_JSON_JSON_CONDITION_H

#include "store/text/json/json_value.h"

/*
 * Whether the "if" of a mutation, n, holds for the row: 1, 0 or an error. It is
 * one condition, or a list of which all must hold. It sees what is committed,
 * and not what m has added to its write; so it is to be asked inside an update,
 * before anything is added. Uses m->key. Errors: -ERR_bad_line,
 * -ERR_bad_argument of a regex or filter or because all conditions together
 * took longer than those of a row_check may, -ERR_no_table, -ERR_no_family, or
 * those of reading.
 */
int json_condition(struct store *s, struct mutation *m,
		   const struct json_node *n, struct bytes table,
		   struct bytes row);

#endif
