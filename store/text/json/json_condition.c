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
 */
struct condition {
	struct bytes family, qualifier; /* of the tree, or in m->key */
	bool has_family, has_qualifier;
	bool any_version; /* else the newest only */
	bool absent;      /* holds if no cell passes, not if one does */
	struct bytes equals;
	bool has_equals;
	struct regex *regex;   /* owned; of "matches" */
	struct filter *filter; /* owned */
	unsigned int tests;    /* keys that are tests; must be 1 */
	struct buf memory;     /* of equals or the pattern */
};

/* A key that says all by being there: false would be the other test, which has
 * a key of its own. */
static int take_true(const struct json_node *n)
{
	return n->type == JSON_TRUE
		       ? 0
		       : json_wrong("must be true, if given", n->key);
}

/* Text, or base64 decoded into c->memory, of which one test has one. */
static int take_value(struct condition *c, struct mutation *m,
		      const struct json_node *n, struct bytes *out)
{
	*out = n->text;
	return json_is_text(n) ? 0 : json_bytes(m, n, &c->memory, out);
}

/* One key of a condition and its value. The first three say which cells it is
 * about; every other one counts as a test. */
static int take_key(struct condition *c, struct mutation *m,
		    const struct json_node *n)
{
	struct bytes pattern;
	int err;

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
	if (bytes_equal(n->key, BYTES_LITERAL("equals"))) {
		c->has_equals = true;
		return take_value(c, m, n, &c->equals);
	}
	if (bytes_equal(n->key, BYTES_LITERAL("filter"))) {
		err = take_value(c, m, n, &pattern);
		return err < 0 ? err : filter_parse(pattern, &c->filter);
	}
	if (!bytes_equal(n->key, BYTES_LITERAL("matches")))
		return json_wrong("unknown key in \"if\"", n->key);
	err = take_value(c, m, n, &pattern);
	return err < 0 ? err : regex_new(pattern, &c->regex);
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
		     (!c->has_qualifier && (c->has_equals || c->regex))))
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

/* Whether a cell is what the test wants: 1, 0 or an error. Any is, if the test
 * wants no value. */
static int test_cell(const struct condition *c, const struct cell *cell,
		     struct regex_watch *watch)
{
	if (c->has_equals)
		return bytes_equal(cell->value, c->equals);
	return c->regex ? regex_match(c->regex, cell->value, watch) : 1;
}

/* Whether the condition holds: 1, 0 or an error. The scan gives versions newest
 * first, so without any_version its first cell decides; a test that wants no
 * value needs no second one either. */
static int evaluate(struct store *s, const struct condition *c,
		    struct bytes table, struct bytes row,
		    struct regex_watch *watch)
{
	struct scan_range range = { .table = table,
				    .row = row,
				    .has_family = c->has_family,
				    .has_qualifier = c->has_qualifier,
				    .family = c->family,
				    .qualifier = c->qualifier,
				    .filter = c->filter,
				    .watch = watch };
	struct scan *scan;
	struct cell cell;
	int err = c->has_family ? check_family(s, table, c->family) : 0;

	if (err == 0)
		err = scan_open(s, NULL, &range, &scan);
	if (err < 0)
		return err;
	do {
		err = scan_next(scan, CURSOR_VERSION, &cell);
		if (err <= 0)
			break;
		err = test_cell(c, &cell, watch);
	} while (err == 0 && c->any_version);
	scan_close(scan);
	/* 1 here is a cell that passed, 0 that there was none. */
	return err < 0 ? err : err != c->absent;
}

/* One condition from its node to its answer. */
static int holds(struct store *s, struct mutation *m, const struct json_node *n,
		 struct bytes table, struct bytes row,
		 struct regex_watch *watch)
{
	struct condition c = { .memory = BUF_INIT };
	int err = take_condition(&c, m, n);

	assert(err < 0 || c.tests == 1);
	if (err == 0)
		err = evaluate(s, &c, table, row, watch);
	regex_free(c.regex);
	filter_free(c.filter);
	buf_release(&c.memory);
	return err;
}

int json_condition(struct store *s, struct mutation *m,
		   const struct json_node *n, struct bytes table,
		   struct bytes row)
{
	struct regex_watch watch = { .limit_ns = REGEX_LOCKED_NS };
	int err = 1;

	if (n->type != JSON_ARRAY)
		return holds(s, m, n, table, row, &watch);
	n = json_first(m->json, n);
	/* An empty list holds. */
	for (; err == 1 && n; n = json_next(m->json, n))
		err = holds(s, m, n, table, row, &watch);
	return err;
}
