#include "store/text/base64.h"
#include "store/text/json.h"

/*
 * A row mutation as JSON; the forms are in fs/README.md. Everything is added to
 * one struct write, in the order: delete, set; or in that of "mutations".
 */
struct mutation {
	struct json *json;
	struct write *w;
	uint64_t now_us;
	struct buf row, key, value; /* decoded base64 */
};

static struct bytes shown(struct bytes s)
{
	return bytes_of(s.data, s.size < 100 ? s.size : 100);
}

/* Texts that may be long are cut where they are quoted. */
static int wrong(const char *what, struct bytes name)
{
	name = shown(name);
	return fail(ERR_bad_line, "%s: \"%.*s\"", what, (int)name.size,
		    name.data);
}

static bool is_text(const struct json_node *n)
{
	return n->type == JSON_STRING || n->type == JSON_NUMBER ||
	       n->type == JSON_TRUE || n->type == JSON_FALSE;
}

/* The bytes of {"base64": "..."}, decoded into memory. */
static int base64_member(const struct json_node *n, struct buf *memory,
			 struct bytes *out)
{
	int err;

	if (n->type != JSON_STRING)
		return fail(ERR_bad_line, "\"base64\" must be a string");
	buf_reset(memory);
	err = base64_decode(n->text, memory);
	*out = buf_bytes(memory);
	return err;
}

/* A string, or an object with the one key base64. */
static int bytes_value(struct mutation *m, const struct json_node *n,
		       struct buf *memory, struct bytes *out)
{
	if (n->type == JSON_STRING) {
		*out = n->text;
		return 0;
	}
	if (n->type == JSON_OBJECT && n->count == 1) {
		n = json_first(m->json, n);
		if (bytes_equal(n->key, BYTES_LITERAL("base64")))
			return base64_member(n, memory, out);
	}
	return fail(ERR_bad_line,
		    "a key must be a string or {\"base64\": ...}");
}

/* A qualifier where it stands as an object's key. */
static int qualifier_key(struct mutation *m, struct bytes key,
			 struct bytes *out)
{
	struct bytes prefix = BYTES_LITERAL("base64:");
	int err;

	*out = key;
	if (!bytes_starts_with(key, prefix))
		return 0;
	buf_reset(&m->key);
	err = base64_decode(bytes_after(key, prefix.size), &m->key);
	*out = buf_bytes(&m->key);
	return err;
}

static int timestamp_value(const struct json_node *n, uint64_t *us)
{
	if (n->type != JSON_NUMBER && n->type != JSON_STRING)
		return fail(ERR_bad_timestamp,
			    "a timestamp must be a number of microseconds");
	return time_parse(n->text, us);
}

/* {"value": ..., "timestamp": ...} or {"base64": ..., "timestamp": ...}. */
static int version_object(struct mutation *m, const struct json_node *n,
			  uint64_t *timestamp, struct bytes *value)
{
	const struct json_node *child = json_first(m->json, n);
	unsigned int values = 0;
	int err = 0;

	for (; !err && child; child = json_next(m->json, child)) {
		if (bytes_equal(child->key, BYTES_LITERAL("timestamp"))) {
			err = timestamp_value(child, timestamp);
		} else if (bytes_equal(child->key, BYTES_LITERAL("base64"))) {
			err = base64_member(child, &m->value, value);
			values++;
		} else if (bytes_equal(child->key, BYTES_LITERAL("value")) &&
			   is_text(child)) {
			*value = child->text;
			values++;
		} else {
			err = wrong("wrong key or value in a version",
				    child->key);
		}
	}
	if (!err && values != 1)
		err = fail(ERR_bad_line,
			   "a version needs one of \"value\" and \"base64\"");
	return err;
}

static int set_version(struct mutation *m, struct bytes family,
		       struct bytes qualifier, const struct json_node *n)
{
	uint64_t timestamp = m->now_us;
	struct bytes value = n->text;
	int err = 0;

	if (n->type == JSON_OBJECT)
		err = version_object(m, n, &timestamp, &value);
	else if (!is_text(n))
		err = wrong("a version is neither text nor an object",
			    qualifier);
	return err < 0 ? err
		       : write_set(m->w, family, qualifier, timestamp, value);
}

static int set_column(struct mutation *m, struct bytes family,
		      const struct json_node *n)
{
	struct bytes qualifier;
	int err = qualifier_key(m, n->key, &qualifier);

	if (err < 0)
		return err;
	if (n->type == JSON_NULL)
		return write_delete_column(m->w, family, qualifier);
	if (n->type != JSON_ARRAY)
		return set_version(m, family, qualifier, n);
	n = json_first(m->json, n);
	for (; !err && n; n = json_next(m->json, n))
		err = set_version(m, family, qualifier, n);
	return err;
}

static int apply_set(struct mutation *m, const struct json_node *set)
{
	const struct json_node *family, *column;
	int err = 0;

	if (set->type != JSON_OBJECT)
		return fail(ERR_bad_line, "\"set\" must be an object");
	family = json_first(m->json, set);
	for (; family; family = json_next(m->json, family)) {
		if (family->type != JSON_OBJECT)
			return wrong("\"set\" of a family must be an object",
				     family->key);
		column = json_first(m->json, family);
		for (; !err && column; column = json_next(m->json, column))
			err = set_column(m, family->key, column);
		if (err < 0)
			return err;
	}
	return 0;
}

/* {"qualifier": ..., "from": us, "to": us}; from and to may be absent,
 * to is exclusive. */
static int delete_range(struct mutation *m, struct bytes family,
			const struct json_node *n)
{
	const struct json_node *child = json_first(m->json, n);
	struct bytes qualifier = BYTES_NONE;
	uint64_t from = 0, to = 0;
	bool named = false;
	int err = 0;

	for (; !err && child; child = json_next(m->json, child)) {
		if (bytes_equal(child->key, BYTES_LITERAL("qualifier"))) {
			err = bytes_value(m, child, &m->key, &qualifier);
			named = true;
		} else if (bytes_equal(child->key, BYTES_LITERAL("from"))) {
			err = timestamp_value(child, &from);
		} else if (bytes_equal(child->key, BYTES_LITERAL("to"))) {
			err = timestamp_value(child, &to);
			if (!err && to == 0)
				err = fail(ERR_bad_timestamp,
					   "\"to\" must be more than 0");
		} else {
			err = wrong("unknown key in \"delete\"", child->key);
		}
	}
	if (!err && !named)
		err = fail(ERR_bad_line,
			   "\"delete\" of versions needs a \"qualifier\"");
	return err < 0 ? err
		       : write_delete_cells(m->w, family, qualifier, from, to);
}

static int delete_column(struct mutation *m, struct bytes family,
			 const struct json_node *n)
{
	struct bytes qualifier;
	int err;

	if (n->type == JSON_OBJECT && json_find(m->json, n, "qualifier"))
		return delete_range(m, family, n);
	err = bytes_value(m, n, &m->key, &qualifier);
	return err < 0 ? err : write_delete_column(m->w, family, qualifier);
}

static int delete_family(struct mutation *m, const struct json_node *family)
{
	const struct json_node *n;
	int err = 0;

	if (family->type == JSON_TRUE)
		return write_delete_family(m->w, family->key);
	if (family->type == JSON_OBJECT)
		return delete_range(m, family->key, family);
	if (family->type != JSON_ARRAY)
		return wrong("\"delete\" of a family must be true, a list "
			     "of qualifiers or an object",
			     family->key);
	n = json_first(m->json, family);
	for (; !err && n; n = json_next(m->json, n))
		err = delete_column(m, family->key, n);
	return err;
}

static int apply_delete(struct mutation *m, const struct json_node *n)
{
	int err = 0;

	if (n->type == JSON_TRUE)
		return write_delete_row(m->w);
	if (n->type != JSON_OBJECT)
		return fail(ERR_bad_line,
			    "\"delete\" must be true or an object");
	n = json_first(m->json, n);
	for (; !err && n; n = json_next(m->json, n))
		err = delete_family(m, n);
	return err;
}

static int apply_list(struct mutation *m, const struct json_node *list);

/* The body of a line, or, nested, one of its "mutations". */
static int apply(struct mutation *m, const struct json_node *body, bool nested)
{
	const struct json_node *del = NULL, *set = NULL, *list = NULL;
	const struct json_node *n = json_first(m->json, body);
	int err = 0;

	for (; n; n = json_next(m->json, n)) {
		struct bytes key = n->key;

		if (bytes_equal(key, BYTES_LITERAL("delete")))
			del = n;
		else if (bytes_equal(key, BYTES_LITERAL("set")))
			set = n;
		else if (bytes_equal(key, BYTES_LITERAL("mutations")) &&
			 !nested)
			list = n;
		else if (bytes_equal(key, BYTES_LITERAL("if")) ||
			 bytes_equal(key, BYTES_LITERAL("else")) ||
			 bytes_equal(key, BYTES_LITERAL("add")) ||
			 bytes_equal(key, BYTES_LITERAL("append")) ||
			 bytes_equal(key, BYTES_LITERAL("increment")))
			return wrong("not supported yet", key);
		else if (nested || !bytes_equal(key, BYTES_LITERAL("row")))
			return wrong("unknown key", key);
	}
	if (list && (del || set))
		return fail(ERR_bad_line,
			    "\"mutations\" beside \"set\" or \"delete\"");
	if (del)
		err = apply_delete(m, del);
	if (!err && set)
		err = apply_set(m, set);
	if (!err && list)
		err = apply_list(m, list);
	return err;
}

static int apply_list(struct mutation *m, const struct json_node *list)
{
	const struct json_node *n = json_first(m->json, list);
	int err = 0;

	if (list->type != JSON_ARRAY)
		return fail(ERR_bad_line, "\"mutations\" must be a list");
	for (; !err && n; n = json_next(m->json, n)) {
		if (n->type != JSON_OBJECT)
			return fail(ERR_bad_line,
				    "one of \"mutations\" is no object");
		err = apply(m, n, true);
	}
	return err;
}

/* The row that the line is about; expected, unless empty, is the only one that
 * it may name and what it means when it names none. */
static int find_row(struct mutation *m, const struct json_node *body,
		    struct bytes expected, struct bytes *row)
{
	const struct json_node *n = json_find(m->json, body, "row");
	int err;

	*row = expected;
	if (!n)
		return expected.size > 0
			       ? 0
			       : fail(ERR_bad_line, "no \"row\" is given");
	err = bytes_value(m, n, &m->row, row);
	if (!err && expected.size > 0 && !bytes_equal(*row, expected))
		err = wrong("the line is about another row", *row);
	return err;
}

int json_mutation(struct json *j, struct bytes line, struct bytes table,
		  struct bytes row, uint64_t now_us, struct write *w)
{
	struct mutation m = { .json = j, .w = w, .now_us = now_us };
	struct write_mark mark = write_mark(w);
	const struct json_node *body;
	int err;

	body = json_parse(j, line, &err);
	if (body && body->type != JSON_OBJECT)
		err = fail(ERR_bad_line, "a mutation must be a JSON object");
	if (!err)
		err = find_row(&m, body, row, &row);
	if (!err)
		err = write_row(w, table, row);
	if (!err)
		err = apply(&m, body, false);
	if (err < 0)
		write_rewind(w, mark);
	buf_release(&m.row);
	buf_release(&m.key);
	buf_release(&m.value);
	return err;
}

int mutation_parse_json(struct bytes line, struct bytes table, struct bytes row,
			struct write *w)
{
	struct json j = { 0 };
	int err = json_mutation(&j, line, table, row, STORE_NOW, w);

	json_release(&j);
	return err;
}
