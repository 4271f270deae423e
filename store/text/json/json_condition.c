#include <assert.h>

#include "store/text/filter/filter_text.h"
#include "store/text/json/json_condition.h"
#include "store/text/json/json_value.h"

/*
 * The "if" of a JSON mutation: {"family", "qualifier", test} with one test of
 * "absent": true, "present": true, "equals": value, "matches": regex, about the
 * newest version, or all of them with "any_version": true. Without a qualifier,
 * or without a family as well, absent and present are about any cell there; and
 * so is "filter": expression, which holds if it lets any version of them pass.
 * Each becomes a selection, which holds if it selects a cell.
 */
struct condition {
	struct bytes family, qualifier; /* of the tree, or in m->key */
	bool has_family, has_qualifier;
	bool any_version;    /* else the newest only */
	bool absent;         /* holds if no cell passes, not if one does */
	bool on_value;       /* the test is, which is of a column */
	struct filter *test; /* owned; NULL: any cell */
	unsigned int tests;  /* keys that are tests; must be 1 */
	struct buf memory;   /* of a value or pattern */
};

/* A key that says all by being there: false would be the other test, which has
 * a key of its own. */
static int take_true(const struct json_node *n)
{
	return n->type == JSON_TRUE
		       ? 0
		       : json_wrong("must be true, if given", n->key);
}

static int new_equal(struct bytes value, struct filter **out)
{
	const struct filter_range range = { .start = value,
					    .end = value,
					    .has_start = true,
					    .has_end = true,
					    .end_closed = true };

	return filter_new_values(&range, out);
}

/* A test by text, or base64 decoded into c->memory. One that is there already
 * is one too many, which is told when all keys are known. */
static int take_test(struct condition *c, struct mutation *m,
		     const struct json_node *n,
		     int (*make)(struct bytes text, struct filter **out))
{
	struct bytes text = n->text;
	int err = json_is_text(n) ? 0 : json_bytes(m, n, &c->memory, &text);

	if (err < 0)
		return err;
	filter_free(c->test);
	return make(text, &c->test);
}

/* One key of a condition and its value. The first three say which cells it is
 * about; every other one counts as a test. */
static int take_key(struct condition *c, struct mutation *m,
		    const struct json_node *n)
{
	if (bytes_equal(n->key, BYTES_LITERAL("family"))) {
		c->has_family = true;
		c->family = n->text;
		return n->type == JSON_STRING
			       ? 0
			       : fail(ERR_bad_line,
				      "\"family\" must be a string");
	}
	if (bytes_equal(n->key, BYTES_LITERAL("qualifier"))) {
		c->has_qualifier = true;
		return json_bytes(m, n, &m->key, &c->qualifier);
	}
	if (bytes_equal(n->key, BYTES_LITERAL("any_version"))) {
		c->any_version = n->type == JSON_TRUE;
		return c->any_version || n->type == JSON_FALSE
			       ? 0
			       : json_wrong("must be true or false", n->key);
	}
	/* What is left are tests, and keys that are unknown. */
	c->tests++;
	if (bytes_equal(n->key, BYTES_LITERAL("present")))
		return take_true(n);
	if (bytes_equal(n->key, BYTES_LITERAL("absent"))) {
		c->absent = true;
		return take_true(n);
	}
	if (bytes_equal(n->key, BYTES_LITERAL("filter")))
		return take_test(c, m, n, filter_parse);
	c->on_value = true;
	if (bytes_equal(n->key, BYTES_LITERAL("equals")))
		return take_test(c, m, n, new_equal);
	if (bytes_equal(n->key, BYTES_LITERAL("matches")))
		return take_test(c, m, n, filter_new_value);
	return json_wrong("unknown key in \"if\"", n->key);
}

/* All keys, in any order, and then whether they make sense together: a
 * qualifier is that of a family, and only a column's values can be tested. */
static int take_condition(struct condition *c, struct mutation *m,
			  const struct json_node *n)
{
	const struct json_node *child = json_first(m->json, n);
	int err = 0;

	if (n->type != JSON_OBJECT)
		return fail(ERR_bad_line, "a condition must be an object");
	for (; !err && child; child = json_next(m->json, child))
		err = take_key(c, m, child);
	if (!err && c->tests != 1)
		err = fail(ERR_bad_line,
			   "a condition needs one of \"absent\", \"present\", "
			   "\"equals\", \"matches\", \"filter\"");
	if (!err && ((c->has_qualifier && !c->has_family) ||
		     (!c->has_qualifier && c->on_value)))
		err = fail(ERR_bad_line, "a condition on a %s needs a %s",
			   c->has_qualifier ? "qualifier" : "value",
			   c->has_qualifier ? "family" : "qualifier");
	return err;
}

/* A scan of an unknown family is empty and would make "absent" hold for a slip.
 * An unknown table is left to the scan. */
static int check_family(struct store *s, struct bytes table,
			struct bytes family)
{
	struct schema *schema = store_schema(s);
	const struct table *t = schema_table(schema, table);
	int err = 0;

	if (t && !table_family(t, family))
		err = fail(ERR_no_family, "unknown family \"%.*s\"",
			   (int)family.size, (const char *)family.data);
	schema_put(schema);
	return err;
}

/* The columns that the condition is about: one, all of a family. */
static int select_columns(const struct condition *c, struct select *select)
{
	const struct filter_range range = { .start = c->qualifier,
					    .end = c->qualifier,
					    .has_start = c->has_qualifier,
					    .has_end = c->has_qualifier,
					    .end_closed = true };
	struct filter *f;
	int err;

	if (!c->has_family)
		return 0;
	err = filter_new_columns(c->family, &range, &f);
	return select_filter(select, err, f);
}

/* Whether the condition holds: 1, 0 or an error. A test of values is of the
 * newest version, unless any will do. Takes c->test. */
static int evaluate(struct store *s, struct condition *c, struct bytes table,
		    struct bytes row, struct condition_watch *watch)
{
	struct scan_range how = { .table = table, .rows_only = true };
	struct select select = SELECT_INIT;
	struct filter *f;
	int err = c->has_family ? check_family(s, table, c->family) : 0;

	condition_watch(watch, &how);
	if (!err)
		err = select_add_row(&select, row);
	if (!err)
		err = select_columns(c, &select);
	if (!err && c->on_value && !c->any_version) {
		err = filter_new_column_limit(1, &f);
		err = select_filter(&select, err, f);
	}
	if (!err && c->test) {
		err = select_filter(&select, 0, c->test);
		c->test = NULL;
	}
	if (!err)
		err = select_any(s, &select, &how);
	select_release(&select);
	return err < 0 ? err : err != c->absent;
}

/* One condition from its node to its answer. */
static int holds(struct store *s, struct mutation *m, const struct json_node *n,
		 struct bytes table, struct bytes row,
		 struct condition_watch *watch)
{
	struct condition c = { .memory = BUF_INIT };
	int err = take_condition(&c, m, n);

	assert(err < 0 || c.tests == 1);
	if (err == 0)
		err = evaluate(s, &c, table, row, watch);
	filter_free(c.test);
	buf_release(&c.memory);
	return err;
}

int json_condition(struct store *s, struct mutation *m,
		   const struct json_node *n, struct bytes table,
		   struct bytes row, struct condition_watch *watch)
{
	int err = 1;

	if (n->type != JSON_ARRAY)
		return holds(s, m, n, table, row, watch);
	n = json_first(m->json, n);
	/* An empty list holds. */
	for (; err == 1 && n; n = json_next(m->json, n))
		err = holds(s, m, n, table, row, watch);
	return err;
}
