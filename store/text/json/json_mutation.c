#include <assert.h>
#include <stdlib.h>

#include "store/text/json/json_condition.h"
#include "store/text/json/json_mutation.h"
#include "store/text/json/json_newest.h"
#include "store/text/json/json_value.h"
#include "store/text/value/number.h"

/*
 * A row mutation as JSON; fs/README.md has the forms. Everything is added to
 * one struct write, in the order of kinds[], whatever the order of the keys,
 * since JSON gives them none; or in that of the list "mutations".
 *
 * First check_body looks at the keys alone and finds out whether it reads; then
 * apply adds it. Both must agree on what keys there are: both ask kinds[].
 * Shapes of values are checked as they are added: an error rewinds the write.
 */

/* One value of set or merge: text at the time of the mutation, or an object.
 * *timestamp is set to the one it has. */
static int set_version(struct mutation *m, struct bytes family,
		       struct bytes qualifier, const struct json_node *n,
		       uint64_t *timestamp)
{
	struct bytes value = n->text;
	int err = 0;

	*timestamp = m->now_us;
	if (n->type == JSON_OBJECT)
		err = json_version(m, n, timestamp, &value);
	else if (!json_is_text(n))
		err = json_wrong("a version is neither text nor an object",
				 qualifier);
	return err < 0 ? err
		       : m->put(m->w, family, qualifier, *timestamp, value);
}

/* For qsort. */
static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Whether two of the times, an array of uint64_t, are the same. Sorts them. */
static bool has_equal_times(struct buf *times)
{
	uint64_t *us = (uint64_t *)(void *)times->data;
	size_t count = times->size / sizeof(*us), i;

	qsort(us, count, sizeof(*us), compare_times);
	for (i = 1; i < count; i++)
		if (us[i - 1] == us[i])
			return true;
	return false;
}

/* A list of versions, of which each is to be there afterwards: of two at one
 * time set would keep the last, where merge adds both up. */
static int set_list(struct mutation *m, struct bytes family,
		    struct bytes qualifier, const struct json_node *list)
{
	const struct json_node *n = json_first(m->json, list);
	struct buf times = BUF_INIT;
	uint64_t timestamp;
	int err = 0;

	if (!n)
		return json_wrong("an empty list of versions", qualifier);
	for (; !err && n; n = json_next(m->json, n)) {
		err = set_version(m, family, qualifier, n, &timestamp);
		if (!err)
			err = buf_add(&times, &timestamp, sizeof(timestamp));
	}
	if (!err && m->put == write_set && has_equal_times(&times))
		err = json_wrong("two versions in a list have the same time",
				 qualifier);
	buf_release(&times);
	return err;
}

/* One column of set or merge: a version, a list of them, or null, which deletes
 * the column. For m->put being write_merge, null does the same. */
static int set_column(struct mutation *m, struct bytes family,
		      struct bytes qualifier, const struct json_node *n)
{
	uint64_t timestamp;

	if (n->type == JSON_NULL)
		return write_delete_column(m->w, family, qualifier);
	return n->type == JSON_ARRAY
		       ? set_list(m, family, qualifier, n)
		       : set_version(m, family, qualifier, n, &timestamp);
}

/* {"qualifier": ..., "from": us, "to": us}; from and to may be absent, to is
 * exclusive. write_delete_cells takes a "to" of 0 as none, so a "to" that is
 * given as 0 is refused: it would delete all instead of nothing. */
static int delete_range(struct mutation *m, struct bytes family,
			const struct json_node *n)
{
	const struct json_node *child = json_first(m->json, n);
	struct bytes qualifier = BYTES_NONE;
	uint64_t from = 0, to = 0;
	bool named = false; /* the empty qualifier is a name, too */
	int err = 0;

	for (; !err && child; child = json_next(m->json, child)) {
		if (bytes_equal(child->key, BYTES_LITERAL("qualifier"))) {
			err = json_bytes(m, child, &m->key, &qualifier);
			named = true;
		} else if (bytes_equal(child->key, BYTES_LITERAL("from"))) {
			err = json_timestamp(child, &from);
		} else if (bytes_equal(child->key, BYTES_LITERAL("to"))) {
			err = json_timestamp(child, &to);
			if (!err && to == 0)
				err = fail(ERR_bad_timestamp,
					   "\"to\" must be more than 0");
		} else {
			err = json_wrong("unknown key in \"delete\"",
					 child->key);
		}
	}
	if (!err && !named)
		err = fail(ERR_bad_line,
			   "\"delete\" of versions needs a \"qualifier\"");
	return err < 0 ? err
		       : write_delete_cells(m->w, family, qualifier, from, to);
}

/* One of the list of a family's deletes: versions of a column, or all of it. An
 * object without "qualifier" is a name in base64. */
static int delete_column(struct mutation *m, struct bytes family,
			 const struct json_node *n)
{
	struct bytes qualifier;
	int err;

	if (n->type == JSON_OBJECT && json_find(m->json, n, "qualifier"))
		return delete_range(m, family, n);
	err = json_bytes(m, n, &m->key, &qualifier);
	return err < 0 ? err : write_delete_column(m->w, family, qualifier);
}

/* The family's name is the node's key; true deletes it from the row, a list
 * what is in it, an object versions of one column. */
static int delete_family(struct mutation *m, const struct json_node *family)
{
	const struct json_node *n;
	int err = 0;

	if (family->type == JSON_TRUE)
		return write_delete_family(m->w, family->key);
	if (family->type == JSON_OBJECT)
		return delete_range(m, family->key, family);
	if (family->type != JSON_ARRAY)
		return json_wrong("\"delete\" of a family must be true, a list "
				  "of qualifiers or an object",
				  family->key);
	n = json_first(m->json, family);
	for (; !err && n; n = json_next(m->json, n))
		err = delete_column(m, family->key, n);
	return err;
}

/* "delete" deletes the row if it is true, else what is named for each
 * family. */
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

/* One number of add: by itself to the newest version, or {"value": number,
 * "timestamp": ...}. STORE_NOW, which no timestamp that is given can be, tells
 * the two apart. */
static int add_number(struct mutation *m, struct bytes family,
		      struct bytes qualifier, const struct json_node *n)
{
	uint64_t timestamp = STORE_NOW;
	struct bytes text = n->text;
	int64_t number = 0;
	int err = 0;

	if (n->type == JSON_OBJECT)
		err = json_version(m, n, &timestamp, &text);
	else
		err = json_integer("what is added", n, &number);
	if (!err && n->type == JSON_OBJECT && !int_parse(text, &number))
		err = json_wrong(
			"what is added must be a decimal 64-bit integer", text);
	if (err < 0)
		return err;
	if (timestamp != STORE_NOW)
		return write_add(m->w, family, qualifier, timestamp, number);
	return write_add_newest(m->w, family, qualifier, &number, 1, NULL);
}

/* One column of add: a number, or a list of them. */
static int add_value(struct mutation *m, struct bytes family,
		     struct bytes qualifier, const struct json_node *n)
{
	int err = 0;

	if (n->type != JSON_ARRAY)
		return add_number(m, family, qualifier, n);
	n = json_first(m->json, n);
	if (!n)
		return json_wrong("an empty list of numbers", qualifier);
	for (; !err && n; n = json_next(m->json, n))
		err = add_number(m, family, qualifier, n);
	return err;
}

/* One value of append: text or {"base64": ...}. */
static int append_value(struct mutation *m, struct bytes family,
			struct bytes qualifier, const struct json_node *n)
{
	struct bytes value = n->text;
	struct large *large = NULL;
	struct cell made;
	int err = 0;

	if (!json_is_text(n))
		err = json_bytes(m, n, &m->value, &value);
	if (!err)
		err = write_append_large(m->w, family, qualifier, value, &made,
					 &large);
	if (!err && m->result)
		return json_result_add(m->result, &made, large);
	large_put(large);
	return err;
}

/* Only a JSON number: "1" in quotes is a slip, here, not a value. */
static int increment_value(struct mutation *m, struct bytes family,
			   struct bytes qualifier, const struct json_node *n)
{
	struct cell made;
	int64_t amount = 0;
	int err = json_integer("an increment", n, &amount);

	if (err < 0)
		return err;
	err = write_increment(m->w, family, qualifier, amount, &made);
	return !err && m->result ? json_result_add(m->result, &made, NULL)
				 : err;
}

/* {family: {qualifier: value}}: does what for each value, in the order of the
 * text. */
static int apply_columns(struct mutation *m, const struct json_node *families,
			 int (*what)(struct mutation *m, struct bytes family,
				     struct bytes qualifier,
				     const struct json_node *n))
{
	const struct json_node *family, *column;
	struct bytes qualifier;
	int err = 0;

	if (families->type != JSON_OBJECT)
		return json_wrong("must be an object of families",
				  families->key);
	family = json_first(m->json, families);
	for (; family; family = json_next(m->json, family)) {
		if (family->type != JSON_OBJECT)
			return json_wrong("must be an object of qualifiers",
					  family->key);
		column = json_first(m->json, family);
		for (; !err && column; column = json_next(m->json, column)) {
			err = json_qualifier(m, column->key, &qualifier);
			if (!err)
				err = what(m, family->key, qualifier, column);
		}
		if (err < 0)
			return err;
	}
	return 0;
}

/* The five that stand in kinds[] for apply_columns. */
static int apply_set(struct mutation *m, const struct json_node *n)
{
	return apply_columns(m, n, set_column);
}

/* As states of aggregates instead of values. */
static int apply_merge(struct mutation *m, const struct json_node *n)
{
	int err;

	/* For what set_version does with each version; "set" may follow. */
	m->put = write_merge;
	err = apply_columns(m, n, set_column);
	m->put = write_set;
	return err;
}

static int apply_add(struct mutation *m, const struct json_node *n)
{
	return apply_columns(m, n, add_value);
}

static int apply_append(struct mutation *m, const struct json_node *n)
{
	return apply_columns(m, n, append_value);
}

static int apply_increment(struct mutation *m, const struct json_node *n)
{
	return apply_columns(m, n, increment_value);
}

static bool always(const struct json *j, const struct json_node *n)
{
	(void)j;
	(void)n;
	return true;
}

/* What an object may ask for, in the order in which it is done: deletes first,
 * so that "delete" and "set" in one object replace a row. */
static const struct kind {
	const char *name;
	int (*apply)(struct mutation *m, const struct json_node *n);
	/* Whether what it does depends on what is there; NULL: never. */
	bool (*reads)(const struct json *j, const struct json_node *n);
} kinds[] = {
	{ "delete", apply_delete, NULL },
	{ "set", apply_set, NULL },
	{ "merge", apply_merge, NULL },
	{ "add", apply_add, json_adds_to_newest },
	{ "append", apply_append, always },
	{ "increment", apply_increment, always },
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* NULL if no kind has this name. */
static const struct kind *find_kind(struct bytes key)
{
	size_t i;

	for (i = 0; i < KIND_COUNT; i++)
		if (bytes_equal(key, bytes_string(kinds[i].name)))
			return &kinds[i];
	return NULL;
}

/* Does what an object asks for by the keys of kinds[]. */
static int apply_kinds(struct mutation *m, const struct json_node *body)
{
	const struct json_node *n;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < KIND_COUNT; i++) {
		n = json_find(m->json, body, kinds[i].name);
		if (n)
			err = kinds[i].apply(m, n);
	}
	return err;
}

/* "mutations": each object's keys in the order of kinds[], one object after
 * another. */
static int apply_list(struct mutation *m, const struct json_node *list)
{
	const struct json_node *n = json_first(m->json, list);
	int err = 0;

	if (list->type != JSON_ARRAY)
		return fail(ERR_bad_line, "\"mutations\" must be a list");
	for (; !err && n; n = json_next(m->json, n))
		err = apply_kinds(m, n);
	return err;
}

/* The body of a line, or of its "else". */
static int apply(struct mutation *m, const struct json_node *body)
{
	const struct json_node *list = json_find(m->json, body, "mutations");

	return list ? apply_list(m, list) : apply_kinds(m, body);
}

/* Checks that all keys of one of "mutations" are known, and sets *reads if one
 * reads. */
static int check_item(const struct json *j, const struct json_node *item,
		      bool *reads)
{
	const struct json_node *n = json_first(j, item);

	if (item->type != JSON_OBJECT)
		return fail(ERR_bad_line, "one of \"mutations\" is no object");
	for (; n; n = json_next(j, n)) {
		const struct kind *kind = find_kind(n->key);

		if (!kind)
			return json_wrong("unknown key", n->key);
		*reads |= kind->reads && kind->reads(j, n);
	}
	return 0;
}

/* Checks the keys of a line or, if is_else, of its "else", which can have
 * neither row nor conditions; so it calls itself once at most. Sets *reads if
 * it is to read. A list "mutations" that is no list is left to apply_list. */
static int check_body(const struct json *j, const struct json_node *body,
		      bool is_else, bool *reads)
{
	const struct json_node *n, *item, *list = NULL;
	bool beside = false, has_if = false, has_else = false;
	int err = 0;

	if (body->type != JSON_OBJECT)
		return fail(ERR_bad_line, "%s must be a JSON object",
			    is_else ? "\"else\"" : "a mutation");
	for (n = json_first(j, body); !err && n; n = json_next(j, n)) {
		const struct kind *kind = find_kind(n->key);

		if (kind) {
			beside = true;
			*reads |= kind->reads && kind->reads(j, n);
		} else if (bytes_equal(n->key, BYTES_LITERAL("mutations"))) {
			list = n;
		} else if (is_else) {
			err = json_wrong("unknown key", n->key);
		} else if (bytes_equal(n->key, BYTES_LITERAL("if"))) {
			has_if = *reads = true;
		} else if (bytes_equal(n->key, BYTES_LITERAL("else"))) {
			has_else = true;
			err = check_body(j, n, true, reads);
		} else if (!bytes_equal(n->key, BYTES_LITERAL("row"))) {
			err = json_wrong("unknown key", n->key);
		}
	}
	if (!err && has_else && !has_if)
		err = fail(ERR_bad_line, "\"else\" without \"if\"");
	if (!err && list && beside)
		err = fail(ERR_bad_line,
			   "\"mutations\" beside what belongs into it");
	if (err || !list || list->type != JSON_ARRAY)
		return err;
	item = json_first(j, list);
	for (; !err && item; item = json_next(j, item))
		err = check_item(j, item, reads);
	return err;
}

/* Whether an object, or the list or "else" in it, which is nested once at most,
 * has a key of kinds[] but "delete". */
static bool adds(const struct json *j, const struct json_node *body)
{
	const struct json_node *n = json_first(j, body), *item;
	bool does = false;

	for (; n && !does; n = json_next(j, n)) {
		const struct kind *kind = find_kind(n->key);

		if (kind)
			does = kind->apply != apply_delete;
		else if (bytes_equal(n->key, BYTES_LITERAL("else")))
			does = adds(j, n);
		else if (bytes_equal(n->key, BYTES_LITERAL("mutations")))
			for (item = json_first(j, n); item && !does;
			     item = json_next(j, item))
				does = adds(j, item);
	}
	return does;
}

bool mutation_adds(struct bytes text)
{
	struct json j = { 0 };
	const struct json_node *body;
	bool reads;
	bool does = json_mutation_parse(&j, text, &body, &reads) == 0 &&
		    adds(&j, body);

	json_release(&j);
	return does;
}

bool mutation_may_ask(struct bytes text)
{
	if (text.size == 0)
		return false;
	/* A key may be spelled by escapes. */
	return memmem(text.data, text.size, "\"if\"", 4) ||
	       memmem(text.data, text.size, "\\u00", 4);
}

int json_may_not_ask(void)
{
	return fail(EACCES, "a condition tells what is in the table, which you "
			    "may not read: leave \"if\" away");
}

/* The row that the line is about, in the tree or in m->row; expected, unless
 * empty, is the only one that it may name and what it means when it names
 * none. */
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
	err = json_bytes(m, n, &m->row, row);
	if (!err && expected.size > 0 && !bytes_equal(*row, expected))
		err = json_wrong("the line is about another row", *row);
	return err;
}

int json_mutation_parse(struct json *j, struct bytes line,
			const struct json_node **body, bool *reads)
{
	int err;

	*reads = false;
	*body = json_parse(j, line, &err);
	return *body ? check_body(j, *body, false, reads) : err;
}

/* Notes what is known before body, NULL for nothing, is done. */
static int note_result(struct json_result *r, struct bytes row,
		       const struct json_node *condition, bool holds,
		       const struct json_node *body)
{
	r->has_condition = condition != NULL;
	r->matched = condition && holds;
	r->done = body != NULL;
	return buf_set(&r->row, row);
}

static struct mutation mutation_of(const struct json_context *c,
				   struct write *w)
{
	return (struct mutation){
		.json = c->json,
		.w = w,
		.now_us = c->now_us,
		.put = write_set,
		.result = c->result,
	};
}

static void release(struct mutation *m)
{
	buf_release(&m->row);
	buf_release(&m->key);
	buf_release(&m->value);
}

int json_mutation_add(const struct json_context *c,
		      const struct json_node *body, struct write *w)
{
	struct mutation m = mutation_of(c, w);
	struct write_mark mark = write_mark(w);
	struct bytes row;
	int err;

	assert(body->type == JSON_OBJECT && !json_find(c->json, body, "if"));
	err = find_row(&m, body, c->row, &row);
	if (!err)
		err = write_row(w, c->table, row);
	if (!err && c->result)
		err = note_result(c->result, row, NULL, true, body);
	if (!err)
		err = apply(&m, body);
	if (err < 0)
		write_rewind(w, mark);
	release(&m);
	return err;
}

/* What an update needs, which has body in w when no other commits. */
struct line {
	struct json_context context;
	const struct json_node *body;
	const struct json_node *condition;
	struct bytes row; /* with a condition */
	size_t count;     /* mutations made; set by decide */
};

/* The callback of store_update: its error commits nothing. */
static int decide(void *context, struct write *w)
{
	struct line *line = context;
	int err = json_mutation_add(&line->context, line->body, w);

	line->count = write_count(w);
	return err ? err : mapped_error();
}

static int ask(void *context, struct condition_watch *watch)
{
	const struct line *line = context;
	const struct json_context *c = &line->context;
	struct mutation m = mutation_of(c, NULL);
	int holds = json_condition(c->store, &m, line->condition, c->table,
				   line->row, watch);

	release(&m);
	return holds;
}

/* What "if" stands beside is for when it holds. */
static int decide_if(void *context, bool holds, struct write *w)
{
	struct line *line = context;
	const struct json_context *c = &line->context;
	struct mutation m = mutation_of(c, w);
	const struct json_node *body =
		holds ? line->body : json_find(c->json, line->body, "else");
	int err = 0;

	if (c->result)
		err = note_result(c->result, line->row, line->condition, holds,
				  body);
	else if (!body)
		err = fail(ERR_condition_failed, "the condition does not hold");
	if (!err && body)
		err = apply(&m, body);
	line->count = write_count(w);
	release(&m);
	return err ? err : mapped_error();
}

static int update_if(struct line *line, bool sync)
{
	const struct json_context *c = &line->context;
	struct row_condition q = { .table = c->table,
				   .ask = ask,
				   .decide = decide_if,
				   .context = line };
	struct mutation m = mutation_of(c, NULL);
	int err = find_row(&m, line->body, c->row, &line->row);

	q.row = line->row;
	if (!err)
		err = store_update_if(c->store, &q, sync);
	release(&m);
	return err;
}

int json_mutation_update(const struct json_context *c,
			 const struct json_node *body, bool sync, size_t *count)
{
	struct line line = { .context = *c, .body = body };
	int err;

	line.condition = json_find(c->json, body, "if");
	err = line.condition ? update_if(&line, sync)
			     : store_update(c->store, decide, &line, sync);
	if (count)
		*count = line.count;
	return err;
}

/* An update even if it reads nothing: one text has no batch to go into. */
int mutation_run_json(struct store *s, struct bytes table, struct bytes row,
		      struct bytes text, bool sync, struct json_result *result)
{
	struct spill copied;
	struct json j = { .spill = &copied };
	struct json_context c = { s, &j, table, row, STORE_NOW, result };
	const struct json_node *body;
	bool reads;
	int err;

	/* What had escapes, and what was base64, perhaps with escapes. */
	spill_init(&copied, s, MEMORY_REQUESTS, 2 * text.size);
	err = json_mutation_parse(&j, text, &body, &reads);
	if (!err)
		err = json_mutation_update(&c, body, sync, NULL);
	if (!err && result)
		err = json_result_settle(result);
	json_release(&j);
	return err;
}
