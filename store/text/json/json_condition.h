#ifndef STORE_TEXT_JSON_JSON_CONDITION_H
#define STORE_TEXT_JSON_JSON_CONDITION_H

#include "store/text/json/json.h"

/* Whether a condition, or all of a list, hold for the row: 1, 0 or an error. */
int json_condition(struct store *s, struct mutation *m,
		   const struct json_node *n, struct bytes table,
		   struct bytes row);

#endif
