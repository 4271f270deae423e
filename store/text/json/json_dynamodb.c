
#include "store/text/json/json_dynamodb.h"
#include "store/text/value/base64.h"

static bool is(struct bytes text, const char *word)
{
	return bytes_equal(text, bytes_string(word));
}

static int wrong(const struct json_node *n, const char *what)
{
	return fail(ERR_bad_line, "attribute \"%.*s\": %s", (int)n->key.size,
		    n->key.data, what);
}

/* n becomes its only child, but stays in its place. */
static void lift(struct json_node *n, const struct json_node *child)
{
	n->type = child->type;
	n->first = child->first;
	n->last = child->last;
	n->count = child->count;
	n->text = child->text;
}

static size_t digits(struct bytes text, size_t from)
{
	size_t at = from;

	while (at < text.size && text.data[at] >= '0' && text.data[at] <= '9')
		at++;
	return at - from;
}

/* Whether it is a number to JSON. */
static bool is_number(struct bytes text)
{
	size_t at = text.size > 0 && text.data[0] == '-', n = digits(text, at);

	if (n == 0 || (n > 1 && text.data[at] == '0'))
		return false;
	at += n;
	if (at < text.size && text.data[at] == '.') {
		n = digits(text, at + 1);
		if (n == 0)
			return false;
		at += n + 1;
	}
	if (at < text.size && (text.data[at] | 0x20) == 'e') {
		at++;
		at += at < text.size &&
		      (text.data[at] == '+' || text.data[at] == '-');
		n = digits(text, at);
		at += n;
		if (n == 0)
			return false;
	}
	return at == text.size;
}

static int make_number(struct json_node *n)
{
	if (n->type != JSON_STRING || !is_number(n->text))
		return wrong(n, "N has to be a number in quotes");
	n->type = JSON_NUMBER;
	return 0;
}

static int make_bytes(struct json *j, struct json_node *n)
{
	struct buf decoded = BUF_INIT;
	int err;

	if (n->type != JSON_STRING)
		return wrong(n, "B has to be a string");
	err = base64_decode(n->text, &decoded);
	if (err == -ERR_bad_line)
		err = wrong(n, "B is no base64");
	if (!err)
		err = json_set_text(j, n, buf_bytes(&decoded));
	buf_release(&decoded);
	return err;
}

/* A set: an array of strings, which for NS are numbers. */
static int make_set(struct json *j, struct json_node *n, bool of_numbers)
{
	uint32_t i;
	int err = 0;

	if (n->type != JSON_ARRAY)
		return wrong(n, "a set has to be an array");
	for (i = n->first; !err && i; i = j->nodes[i].next) {
		if (j->nodes[i].type != JSON_STRING)
			return wrong(n, "a member of a set has to be a string");
		j->nodes[i].key = n->key;
		if (of_numbers)
			err = make_number(&j->nodes[i]);
	}
	return err;
}

static int unwrap(struct json *j, struct json_node *n, bool in_list);

/* The attributes of an item or map, or the elements of a list. */
static int unwrap_children(struct json *j, struct json_node *n, bool in_list)
{
	uint32_t i;
	int err = 0;

	for (i = n->first; !err && i; i = j->nodes[i].next) {
		/* An element has no name: it is told by its list's. */
		if (n->type == JSON_ARRAY)
			j->nodes[i].key = n->key;
		err = unwrap(j, &j->nodes[i], in_list);
	}
	return err;
}

/* A value with its type. Calls itself as deep as the tree is. */
static int unwrap(struct json *j, struct json_node *n, bool in_list)
{
	struct bytes type;

	if (n->type != JSON_OBJECT || n->count != 1)
		return wrong(n, "a value has to be an object of its type");
	type = j->nodes[n->first].key;
	lift(n, &j->nodes[n->first]);
	if (is(type, "S") || (is(type, "B") && in_list))
		return n->type == JSON_STRING
			       ? 0
			       : wrong(n, "S and B have to be strings");
	if (is(type, "B"))
		return make_bytes(j, n);
	if (is(type, "N"))
		return make_number(n);
	if (is(type, "BOOL"))
		return n->type == JSON_TRUE || n->type == JSON_FALSE
			       ? 0
			       : wrong(n, "BOOL has to be true or false");
	if (is(type, "NULL")) {
		n->type = JSON_NULL;
		n->first = n->last = n->count = 0;
		n->text = BYTES_LITERAL("null");
		return 0;
	}
	if (is(type, "SS") || is(type, "NS") || is(type, "BS"))
		return make_set(j, n, is(type, "NS"));
	if (n->type != (is(type, "M") ? JSON_OBJECT : JSON_ARRAY) ||
	    (!is(type, "M") && !is(type, "L")))
		return wrong(n, "its type is none of S N B BOOL NULL M L SS NS "
				"BS, or not that of its value");
	return unwrap_children(j, n, in_list || is(type, "L"));
}

int json_dynamodb(struct json *j)
{
	struct json_node *root = &j->nodes[0], *item;

	if (root->type != JSON_OBJECT || root->count != 1)
		return fail(ERR_bad_line, "a record is {\"Item\": {...}}");
	item = &j->nodes[root->first];
	if (item->type != JSON_OBJECT || !is(item->key, "Item"))
		return fail(ERR_bad_line, "a record is {\"Item\": {...}}");
	lift(root, item);
	return unwrap_children(j, root, false);
}
