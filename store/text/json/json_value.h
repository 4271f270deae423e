#ifndef STORE_TEXT_JSON_JSON_VALUE_H
#define STORE_TEXT_JSON_JSON_VALUE_H

#include "store/text/json/json.h"

/* -ERR_bad_line about something named, of which not too much is shown. */
int json_wrong(const char *what, struct bytes name);

/* A string, number or boolean: its text is the value. */
bool json_is_text(const struct json_node *n);

/* The bytes of {"base64": "..."}, decoded into memory. */
int json_base64(const struct json_node *n, struct buf *memory,
		struct bytes *out);

/* A string, or an object with the one key base64, decoded into memory. */
int json_bytes(struct mutation *m, const struct json_node *n,
	       struct buf *memory, struct bytes *out);

#endif
