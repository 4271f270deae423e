#ifndef STORE_TEXT_JSON_JSON_NEWEST_H
#define STORE_TEXT_JSON_JSON_NEWEST_H

#include "store/text/json/json.h"

/* Whether any number of a mutation's "add", which n is, goes to the newest
 * version, which has to be read for that. True, too, of what is malformed: that
 * is told by whoever reads. */
bool json_adds_to_newest(const struct json *j, const struct json_node *n);

#endif
