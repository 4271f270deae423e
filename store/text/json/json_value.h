#ifndef STORE_TEXT_JSON_JSON_VALUE_H
#define STORE_TEXT_JSON_JSON_VALUE_H

#include "store/text/json/json.h"
#include "store/text/json/json_result.h"

/*
 * What row mutations and their conditions are both made of: names and values,
 * of which those that are not UTF-8 are {"base64": "..."}.
 */

/* A row mutation that is being added to w. Each buf holds what was decoded last
 * of its kind, and bytes taken from it until the next of that kind. */
struct mutation {
	struct json *json; /* whose tree it is */
	struct write *w;
	uint64_t now_us; /* of cells without a timestamp */
	/* What a version is put by: write_set or write_merge. */
	int (*put)(struct write *w, struct bytes family, struct bytes qualifier,
		   uint64_t timestamp_us, struct bytes value);
	struct buf row, key, value; /* decoded base64 */
	struct json_result *result; /* NULL: nobody asks */
};

/* -ERR_bad_line about something named: "what: \"name\"", of which not more than
 * 100 bytes are shown. */
int json_wrong(const char *what, struct bytes name);

/* A string, number or boolean: its text is the value. */
bool json_is_text(const struct json_node *n);

/* A number of JSON that is a decimal 64-bit integer; "1" in quotes is a slip.
 * what says what needs one. -ERR_bad_line. */
int json_integer(const char *what, const struct json_node *n, int64_t *out);

/* The bytes of {"base64": "..."}, whose string is n: decoded into memory, which
 * *out points into, or a long one into j's spill. -ERR_bad_line, -ENOMEM, or of
 * the spill. */
int json_base64(struct json *j, const struct json_node *n, struct buf *memory,
		struct bytes *out);

/* A key: a string, and then *out lives as long as the tree, or an object with
 * the one key base64, decoded into memory. -ERR_bad_line or -ENOMEM. */
int json_bytes(struct mutation *m, const struct json_node *n,
	       struct buf *memory, struct bytes *out);

/* A qualifier where it stands as an object's key: what begins with base64: is
 * the rest of it decoded into m->key. -ERR_bad_line or -ENOMEM. */
int json_qualifier(struct mutation *m, struct bytes key, struct bytes *out);

/* A number, or a string that may also be a date: what time_parse takes.
 * -ERR_bad_timestamp. */
int json_timestamp(const struct json_node *n, uint64_t *us);

/* {"value": ..., "timestamp": ...} or {"base64": ..., "timestamp": ...}: what
 * is not given of the time stays. Errors as of json_base64 and json_timestamp.
 */
int json_version(struct mutation *m, const struct json_node *n,
		 uint64_t *timestamp, struct bytes *value);

#endif
