#ifndef STORE_TEXT_JSON_JSON_H
#define STORE_TEXT_JSON_JSON_H

#include "store/store.h"

/*
 * One JSON text as a tree in memory, parsed by yajl. Numbers keep their source
 * text. Refused: invalid UTF-8, lone surrogates, duplicate keys in an object,
 * more than JSON_DEPTH_MAX levels or JSON_NODES_MAX values.
 *
 * A struct json is used for many texts, one after another; a tree lives until
 * the next json_parse.
 */
#define JSON_DEPTH_MAX 32
#define JSON_NODES_MAX (16 * STORE_MUTATIONS_MAX)

enum json_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json_node {
	enum json_type type;
	uint32_t next;  /* index of the next sibling; 0 is none */
	uint32_t first; /* index of the first child; 0 is none */
	uint32_t last;
	uint32_t count;    /* children */
	struct bytes key;  /* if the parent is an object */
	struct bytes text; /* of a string, number, true, false, null */
};

struct json {
	struct yajl_handle_t *parser;
	struct json_node *nodes; /* the first is the root */
	size_t count, capacity;
	struct buf strings;
	uint32_t open[JSON_DEPTH_MAX]; /* the containers we are in */
	unsigned int depth;
	struct bytes key;
	int err; /* why a callback gave up */
};

/* A zeroed struct json is ready. */
void json_release(struct json *j);

/* The root, or NULL with *err set: -ERR_bad_line or -ENOMEM. */
const struct json_node *json_parse(struct json *j, struct bytes text, int *err);

static inline const struct json_node *json_first(const struct json *j,
						 const struct json_node *n)
{
	return n->first ? &j->nodes[n->first] : NULL;
}

static inline const struct json_node *json_next(const struct json *j,
						const struct json_node *n)
{
	return n->next ? &j->nodes[n->next] : NULL;
}

/* The value of an object's key; NULL if it has none. */
const struct json_node *json_find(const struct json *j,
				  const struct json_node *object,
				  const char *key);

struct json_context {
	struct store *store;
	struct json *json;
	struct bytes table;
	struct bytes row; /* as in mutation_run_json */
	uint64_t now_us;  /* of cells without a timestamp */
};

/* What the files of json_mutation.c share. */
struct mutation {
	struct json *json;
	struct write *w;
	uint64_t now_us;
	/* What a version is put by: write_set or write_merge. */
	int (*put)(struct write *w, struct bytes family, struct bytes qualifier,
		   uint64_t timestamp_us, struct bytes value);
	struct buf row, key, value; /* decoded base64 */
};

#endif
