#include <assert.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>

#include "store/text/json/json.h"

/* Copied strings in memory; with a spill, what is more is there. */
#define STRINGS_MAX ((size_t)1 << 20)

/*
 * yajl calls the functions on_* for each value and key, in the order of the
 * text; they return 1 to go on, or 0 to give up with the reason in j->err.
 * Nodes are appended to one array, parents before their children, and linked to
 * the container that is open. Keys and texts that yajl has decoded are
 * copied, since what it shows of those is gone after the call.
 */

/* Appends a node to the innermost open container; NULL after an error, which is
 * in j->err. The pointer is good until the next node. */
static struct json_node *node_add(struct json *j, enum json_type type)
{
	struct json_node *node, *parent;
	uint32_t index = (uint32_t)j->count;

	/* The root has ended: what comes is a second value. */
	if (j->depth == 0 && j->count > 0) {
		j->err = fail(ERR_bad_line, "text after the JSON value");
		return NULL;
	}
	if (j->count >= JSON_NODES_MAX) {
		j->err = fail(ERR_bad_line, "more than %d JSON values",
			      JSON_NODES_MAX);
		return NULL;
	}
	if (j->count == j->capacity) {
		size_t capacity = j->capacity ? j->capacity * 2 : 64;

		node = realloc(j->nodes, capacity * sizeof(*node));
		if (!node) {
			j->err = -ENOMEM;
			return NULL;
		}
		j->nodes = node;
		j->capacity = capacity;
	}
	node = &j->nodes[j->count++];
	*node = (struct json_node){ .type = type, .key = j->key };
	if (j->depth > 0) {
		parent = &j->nodes[j->open[j->depth - 1]];
		if (parent->last)
			j->nodes[parent->last].next = index;
		else
			parent->first = index;
		parent->last = index;
		parent->count++;
	}
	return node;
}

/* Behind what was kept of the text before. strings has room for the whole text,
 * in which no string is longer than its source (an escape of six bytes is three
 * at most), or for STRINGS_MAX of it, and what has no room goes to the file. So
 * nothing moves. */
static struct bytes keep_copy(struct json *j, const void *data, size_t size)
{
	struct bytes kept = bytes_of(j->strings.data + j->strings.size, size);

	if (size > j->strings.capacity - j->strings.size) {
		assert(j->spill);
		j->err = spill_start(j->spill);
		if (!j->err)
			j->err = spill_add(j->spill, bytes_of(data, size));
		if (j->err)
			return BYTES_NONE;
		spill_sweep(j->spill, true);
		kept = spill_bytes(j->spill);
		return bytes_after(kept, kept.size - size);
	}
	if (size > 0)
		memcpy(j->strings.data + j->strings.size, data, size);
	j->strings.size += size;
	return kept;
}

static bool is_within(const void *data, const void *start, size_t size)
{
	return (uintptr_t)data >= (uintptr_t)start &&
	       (uintptr_t)data < (uintptr_t)start + size;
}

/* The value of the \u escape whose backslash is at p; -1 if there is no such
 * escape, which yajl then reports. */
static long escape_value(const uint8_t *p, const uint8_t *end)
{
	long value = 0;
	int i;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (i = 2; i < 6; i++) {
		int c = p[i] | 0x20;

		if (p[i] >= '0' && p[i] <= '9')
			value = value * 16 + (p[i] - '0');
		else if (c >= 'a' && c <= 'f')
			value = value * 16 + (c - 'a' + 10);
		else
			return -1;
	}
	return value;
}

/* yajl turns half a surrogate pair into a question mark: refuse it instead.
 * Looks at every backslash of a string that had some, from where the string
 * before it ended; one that escapes another is skipped with it. */
static int check_surrogates(const struct json *j)
{
	const uint8_t *p = j->text.data + j->seen;
	const uint8_t *end = j->text.data + yajl_get_bytes_consumed(j->parser);

	while (p < end && (p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
		size_t at = (size_t)(p - j->text.data);
		long value = escape_value(p, end);

		if (value < 0xd800 || value > 0xdfff) {
			p += 2;
			continue;
		}
		p += 6;
		/* A high half needs a low one right behind; a low half by
		 * itself is wrong. */
		if (value <= 0xdbff) {
			value = escape_value(p, end);
			p += 6;
		} else {
			value = 0;
		}
		if (value < 0xdc00 || value > 0xdfff)
			return fail(ERR_bad_line,
				    "half a surrogate pair (byte %zu)", at);
	}
	return 0;
}

/* What yajl shows where it stands in the text stays there; what it has decoded
 * of escapes is copied. Whether it is kept; else the reason is in j->err. */
static bool keep(struct json *j, const void *data, size_t size,
		 struct bytes *kept)
{
	if (is_within(data, j->text.data, j->text.size))
		*kept = bytes_of(data, size);
	else if ((j->err = check_surrogates(j)) == 0)
		*kept = keep_copy(j, data, size);
	j->seen = yajl_get_bytes_consumed(j->parser);
	return j->err == 0;
}

static int on_null(void *context)
{
	struct json_node *node = node_add(context, JSON_NULL);

	if (node)
		node->text = BYTES_LITERAL("null");
	return node != NULL;
}

static int on_boolean(void *context, int value)
{
	struct json_node *node =
		node_add(context, value ? JSON_TRUE : JSON_FALSE);

	if (node)
		node->text =
			value ? BYTES_LITERAL("true") : BYTES_LITERAL("false");
	return node != NULL;
}

static int on_number(void *context, const char *data, size_t size)
{
	struct json_node *node = node_add(context, JSON_NUMBER);

	return node && keep(context, data, size, &node->text);
}

static int on_string(void *context, const unsigned char *data, size_t size)
{
	struct json_node *node = node_add(context, JSON_STRING);

	return node && keep(context, data, size, &node->text);
}

/* The key waits for its value, which yajl shows next. */
static int on_key(void *context, const unsigned char *data, size_t size)
{
	struct json *j = context;

	return keep(j, data, size, &j->key);
}

/* The limit of levels also bounds the recursion of who walks the tree. */
static int container_open(struct json *j, enum json_type type)
{
	if (j->depth == JSON_DEPTH_MAX) {
		j->err = fail(ERR_bad_line, "JSON nests deeper than %d levels",
			      JSON_DEPTH_MAX);
		return 0;
	}
	if (!node_add(j, type))
		return 0;
	j->open[j->depth++] = (uint32_t)(j->count - 1);
	return 1;
}

static int on_start_map(void *context)
{
	return container_open(context, JSON_OBJECT);
}

static int on_start_array(void *context)
{
	return container_open(context, JSON_ARRAY);
}

static int on_end_array(void *context)
{
	struct json *j = context;

	assert(j->depth > 0);
	j->depth--;
	return 1;
}

static int compare_keys(const void *a, const void *b)
{
	return bytes_compare(*(const struct bytes *)a,
			     *(const struct bytes *)b);
}

/* Refuses an object with a key given twice, of which other parsers take the
 * first or the last: it would be anybody's guess. Sorts the keys, for there may
 * be a hundred thousand; few objects have more than 16, so most cost no
 * allocation. */
static int check_duplicates(struct json *j, const struct json_node *object)
{
	const struct json_node *child = json_first(j, object);
	struct bytes few[16], *keys = few;
	size_t i = 0;
	int err = 0;

	assert(object->type == JSON_OBJECT);
	if (object->count < 2)
		return 0;
	if (object->count > 16) {
		keys = malloc(object->count * sizeof(*keys));
		if (!keys)
			return -ENOMEM;
	}
	for (; child; child = json_next(j, child))
		keys[i++] = child->key;
	qsort(keys, i, sizeof(*keys), compare_keys);
	while (--i > 0 && !err)
		if (bytes_equal(keys[i], keys[i - 1]))
			err = fail(
				ERR_bad_line, "key \"%.*s\" is given twice",
				(int)(keys[i].size < 100 ? keys[i].size : 100),
				keys[i].data);
	if (keys != few)
		free(keys);
	return err;
}

static int on_end_map(void *context)
{
	struct json *j = context;

	j->depth--;
	j->err = check_duplicates(j, &j->nodes[j->open[j->depth]]);
	return j->err == 0;
}

/* With several values allowed, a handle goes on after a value has ended, so
 * that one serves for many texts; node_add refuses a second value in one
 * text. */
static int parser_new(struct json *j)
{
	static const yajl_callbacks callbacks = {
		.yajl_null = on_null,
		.yajl_boolean = on_boolean,
		.yajl_number = on_number,
		.yajl_string = on_string,
		.yajl_start_map = on_start_map,
		.yajl_map_key = on_key,
		.yajl_end_map = on_end_map,
		.yajl_start_array = on_start_array,
		.yajl_end_array = on_end_array,
	};

	j->parser = yajl_alloc(&callbacks, NULL, j);
	if (!j->parser)
		return -ENOMEM;
	yajl_config(j->parser, yajl_allow_multiple_values, 1);
	return 0;
}

/* A struct json without a parser makes one with the next text. */
static void parser_free(struct json *j)
{
	if (j->parser)
		yajl_free(j->parser);
	j->parser = NULL;
}

/* Where the text was copied before, it has room; else the room for a copy of it
 * is still free. */
int json_set_text(struct json *j, struct json_node *n, struct bytes text)
{
	size_t at;

	assert(text.size <= n->text.size);
	if (is_within(n->text.data, j->strings.data, j->strings.size)) {
		at = (size_t)(n->text.data - j->strings.data);
		if (text.size > 0)
			memcpy(j->strings.data + at, text.data, text.size);
		n->text.size = text.size;
		return 0;
	}
	n->text = keep_copy(j, text.data, text.size);
	return j->err;
}

void json_release(struct json *j)
{
	parser_free(j);
	free(j->nodes);
	buf_release(&j->strings);
	if (j->spill)
		spill_release(j->spill);
	*j = (struct json){ .spill = j->spill };
}

/* The reason is that of a callback, if one gave up, else the first line of
 * yajl's message: the others draw the text with an arrow. */
static int parse_failed(struct json *j, bool at_end)
{
	unsigned char *text;
	size_t at = yajl_get_bytes_consumed(j->parser);

	if (j->err < 0)
		return j->err;
	text = yajl_get_error(j->parser, 0, NULL, 0);
	if (!text)
		return -ENOMEM;
	text[strcspn((char *)text, "\n")] = 0;
	/* What yajl has against a newline behind the text is that the text was
	 * not whole. */
	j->err =
		at_end ? fail(ERR_bad_line, "JSON ends inside a %s (byte %zu)",
			      strstr((char *)text, "inside") ? "string"
							     : "number or word",
			      j->text.size)
		       : fail(ERR_bad_line, "%s (byte %zu)", text, at);
	yajl_free_error(j->parser, text);
	return j->err;
}

/* Room for what is copied of a text of so many bytes. One byte more is reserved
 * so that strings.data is not NULL. */
static int reserve_strings(struct json *j, size_t size)
{
	buf_reset(&j->strings);
	if (j->spill) {
		spill_release(j->spill);
		size = size < STRINGS_MAX ? size : STRINGS_MAX;
	}
	return buf_reserve(&j->strings, size + 1);
}

/* Everything of the text before is forgotten first, but its memory is kept. */
const struct json_node *json_parse(struct json *j, struct bytes text, int *err)
{
	static const unsigned char newline[] = "\n";
	yajl_status status;
	bool at_end;

	j->count = 0;
	j->depth = 0;
	j->key = BYTES_NONE;
	j->text = text;
	j->err = 0;
	j->seen = 0;
	*err = reserve_strings(j, text.size);
	if (!*err && !j->parser)
		*err = parser_new(j);
	if (*err < 0)
		return NULL;
	/* A number at the end of the text is whole only with what follows. */
	status = yajl_parse(j->parser, text.data, text.size);
	at_end = status == yajl_status_ok;
	if (at_end)
		status = yajl_parse(j->parser, newline, 1);
	if (status != yajl_status_ok)
		*err = parse_failed(j, at_end);
	else if (j->depth > 0)
		*err = fail(ERR_bad_line, "JSON ends too early");
	else if (j->count == 0)
		*err = fail(ERR_bad_line, "no JSON value");
	/* It keeps what the longest string took. */
	if (!*err && text.size > STRINGS_MAX)
		parser_free(j);
	if (!*err)
		return &j->nodes[0];
	/* It remembers an error and open containers for ever. */
	parser_free(j);
	return NULL;
}

const struct json_node *json_find(const struct json *j,
				  const struct json_node *object,
				  const char *key)
{
	const struct json_node *child = json_first(j, object);

	assert(object->type == JSON_OBJECT);
	while (child && !bytes_equal(child->key, bytes_string(key)))
		child = json_next(j, child);
	return child;
}
