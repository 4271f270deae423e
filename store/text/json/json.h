#ifndef STORE_TEXT_JSON_JSON_H
#define STORE_TEXT_JSON_JSON_H

#include "store/text/spill/spill.h"

/*
 * One JSON text as a tree in memory, parsed by yajl. Numbers keep their source
 * text, so that 64 bits of them are not lost in a double. Refused: invalid
 * UTF-8, lone surrogates, duplicate keys in an object, more than JSON_DEPTH_MAX
 * levels or JSON_NODES_MAX values.
 *
 * A struct json is used for many texts, one after another, whose memory it
 * keeps. With a spill, which takes twice a text, of a large one little is in
 * memory. A tree lives until the next json_parse or json_release, and no longer
 * than its text. One thread at a time uses it.
 */
#define JSON_DEPTH_MAX 32
/* Of as many mutations as one request may have, each with a few values. */
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

/* Links are indices into the array of all nodes, which may move while a text is
 * parsed. The root has index 0 and is nobody's child, so 0 is none. */
struct json_node {
	enum json_type type;
	uint32_t next;  /* sibling */
	uint32_t first; /* child, of an array or object */
	uint32_t last;  /* child */
	uint32_t count; /* children */
	/* Of an object's child; what else may stand here means nothing. */
	struct bytes key;
	/* Of a string, without its escapes; of a number, true, false, null as
	 * in the source. */
	struct bytes text;
};

/* A zeroed one is ready. What is in it is json.c's, but for the two functions
 * below. */
struct json {
	struct yajl_handle_t *parser;  /* NULL: the next text makes one */
	struct json_node *nodes;       /* the first is the root */
	size_t count, capacity;        /* of nodes */
	struct bytes text;             /* borrowed: keys and texts are there */
	size_t seen;                   /* bytes of it, to the last one's end */
	struct buf strings;            /* or here, if they had escapes, */
	struct spill *spill;           /* or here; borrowed; NULL: none */
	uint32_t open[JSON_DEPTH_MAX]; /* the containers we are in */
	unsigned int depth;            /* how many of open are set */
	struct bytes key;              /* of the child that comes next */
	int err;                       /* why a callback gave up */
};

/* Leaves it as if zeroed, but for spill, which is emptied. */
void json_release(struct json *j);

/* The root, or NULL with *err set: -ERR_bad_line tells what is wrong at which
 * byte, or -ENOMEM. The tree borrows text. */
const struct json_node *json_parse(struct json *j, struct bytes text, int *err);

/* Makes a copy of text, which is no longer than that of n, a node of j's tree,
 * the text of n. 0, or -ENOMEM or an error of the spill. */
int json_set_text(struct json *j, struct json_node *n, struct bytes text);

/* The children of an array or object, in the order of the text: NULL if there
 * is none, or no other. */
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

/* The value of an object's key; NULL if it has none. Looks at one child after
 * another: not for keys that the user chose. */
const struct json_node *json_find(const struct json *j,
				  const struct json_node *object,
				  const char *key);

#endif
