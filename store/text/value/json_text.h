#ifndef STORE_TEXT_VALUE_JSON_TEXT_H
#define STORE_TEXT_VALUE_JSON_TEXT_H

#include "store/base/buf.h"

/*
 * Bytes as JSON: a string if they are UTF-8, else base64, in the forms that row
 * mutations take. All append to out: 0 or -ENOMEM.
 */

/* What is inside a string of valid UTF-8, which json_text_string puts between
 * quotes. */
int json_text_part(struct bytes s, struct buf *out);
int json_text_string(struct bytes s, struct buf *out);

/* The member "base64": "..." of an object. */
int json_text_base64(struct bytes s, struct buf *out);

/* A row key: a string, or {"base64": "..."}. */
int json_text_key(struct bytes row, struct buf *out);

/* A qualifier as an object's key. */
int json_text_qualifier(struct bytes q, struct buf *out);

#endif
