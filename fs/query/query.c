#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/query/query.h"
#include "fs/query/query_run.h"
#include "fs/state/name.h"
#include "fs/state/path.h"
#include "store/text/filter/filter_text.h"
#include "store/text/value/time.h"

/*
 * A path under .scan, in nodes:
 *
 *   TABLE / .scan / prefix / a# / reverse / limit / 10 / jsonl
 *           SCAN    STEP     SCAN SCAN      STEP    SCAN SCAN_TEXT
 *
 * A step with a value is two nodes: its name, a NODE_SCAN_STEP, and its value,
 * a NODE_SCAN; one without is a single NODE_SCAN. So a NODE_SCAN whose parent
 * is the table is .scan itself and ends the walk. .import is built alike.
 */

/* No lock is needed to walk up: these nodes are never renamed, and each holds a
 * reference of its parent. */
bool query_next_step(struct node **node, struct query_step *step)
{
	struct node *n = *node;

	assert(n->parent);
	if ((n->kind != NODE_SCAN && n->kind != NODE_IMPORT) ||
	    n->parent->kind == NODE_TABLE)
		return false;
	if (n->parent->kind == NODE_SCAN_STEP ||
	    n->parent->kind == NODE_IMPORT_STEP) {
		step->name = node_name(n->parent);
		step->value = node_name(n);
		*node = n->parent->parent;
	} else {
		step->name = node_name(n);
		step->value = BYTES_NONE;
		*node = n->parent;
	}
	return true;
}

bool query_has_step(struct fs *fs, struct node *node, const char *name)
{
	struct query_step step;

	(void)fs;
	while (query_next_step(&node, &step))
		if (bytes_equal(step.name, bytes_string(name)))
			return true;
	return false;
}

size_t query_depth(struct fs *fs, struct node *node)
{
	size_t depth = 0;

	(void)fs;
	for (; node && node->kind != NODE_TABLE; node = node->parent)
		depth++;
	return depth;
}

/* Steps of one path: there are 12, each at most once, see ctl_table.c. */
#define STEPS_MAX 16

/* Appends "name/value/", as names in a path, with extra behind the value; for
 * reverse, which takes none, "reverse/". */
static int print_step(const struct query_step *step, struct bytes extra,
		      struct buf *out)
{
	struct buf value = BUF_INIT;
	int err = buf_add_bytes(out, step->name);

	if (!err)
		err = buf_add_byte(out, '/');
	if (err || bytes_equal(step->name, BYTES_LITERAL("reverse")))
		return err;
	err = buf_set(&value, step->value);
	if (!err)
		err = buf_add_bytes(&value, extra);
	if (!err)
		err = name_encode(NAME_VALUE, buf_bytes(&value), out);
	buf_release(&value);
	return err ? err : buf_add_byte(out, '/');
}

/* Appends the path, from .scan on, of node's steps in their order, the prefix
 * longer by segment; a prefix of it comes last if the steps have none. */
static int print_steps(struct node *node, struct bytes segment, struct buf *out)
{
	const struct query_step none = { BYTES_LITERAL("prefix"), BYTES_NONE };
	struct query_step steps[STEPS_MAX];
	bool has_prefix = false;
	size_t count = 0;
	int err = 0;

	while (count < STEPS_MAX && query_next_step(&node, &steps[count]))
		count++;
	assert(count < STEPS_MAX);
	/* They were met from the last to the first. */
	while (count > 0 && !err) {
		const struct query_step *step = &steps[--count];
		bool is_prefix = bytes_equal(step->name, none.name);

		has_prefix = has_prefix || is_prefix;
		err = print_step(step, is_prefix ? segment : BYTES_NONE, out);
	}
	if (!err && !has_prefix)
		err = print_step(&none, segment, out);
	return err;
}

/* The value of the step prefix above node, borrowed from its node; empty if it
 * was not given. */
static struct bytes prefix_of(struct node *node)
{
	struct query_step step;

	while (query_next_step(&node, &step))
		if (bytes_equal(step.name, BYTES_LITERAL("prefix")))
			return step.value;
	return BYTES_NONE;
}

int query_link(struct fs *fs, struct node *segments, struct bytes segment,
	       struct buf *out)
{
	const struct query q = {
		.delimiter = bytes_string(fs->options->delimiter),
	};
	bool is_row = query_is_row(&q, segment);
	size_t depth = query_depth(fs, segments) - !is_row;
	struct buf row = BUF_INIT;
	int err = 0;

	assert(segments->kind == NODE_SCAN_SEGMENTS);
	/* To the table, where the row is; to .scan, one less. */
	while (!err && depth-- > 0)
		err = buf_add_string(out, "../");
	if (!err && !is_row)
		return print_steps(segments->parent, segment, out);
	if (!err)
		err = buf_set(&row, prefix_of(segments->parent));
	if (!err)
		err = buf_add_bytes(&row, segment);
	if (!err)
		err = name_encode(NAME_ROW, buf_bytes(&row), out);
	buf_release(&row);
	return err;
}

/* Decimal digits only. 18 of them, so that no sum can pass 64 bits. */
static bool parse_count(struct bytes text, uint64_t *count)
{
	size_t i;

	*count = 0;
	if (text.size == 0 || text.size > 18)
		return false;
	for (i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		*count = *count * 10 + (text.data[i] - '0');
	}
	return true;
}

/* Parts "a..b" at the first "..", either part may be empty. Both are borrowed
 * from value. */
static bool split_range(struct bytes value, struct bytes *start,
			struct bytes *end)
{
	size_t i;

	for (i = 0; i + 1 < value.size; i++) {
		if (value.data[i] == '.' && value.data[i + 1] == '.') {
			*start = bytes_of(value.data, i);
			*end = bytes_after(value, i + 2);
			return true;
		}
	}
	return false;
}

/* Rows begin at start, unless they begin later already. */
static void raise_start(struct query *q, struct bytes start)
{
	if (bytes_compare(start, q->start) > 0)
		q->start = start;
}

/* Rows end before end, unless they end earlier already; empty is no end. */
static void lower_end(struct query *q, struct bytes end)
{
	if (end.size > 0 &&
	    (q->end.size == 0 || bytes_compare(end, q->end) < 0))
		q->end = end;
}

/* Rows that begin with prefix, which q borrows. 0 or -ENOMEM. */
static int limit_to_prefix(struct query *q, struct bytes prefix)
{
	int err = buf_set(&q->prefix_end, prefix);

	if (err)
		return err;
	/* If no key comes after them all, it is empty then: no end. */
	query_pass_prefix(&q->prefix_end);
	q->prefix = prefix;
	raise_start(q, prefix);
	lower_end(q, buf_bytes(&q->prefix_end));
	return 0;
}

/* Makes a filter of the pattern and drops it: a wrong one is to be told when
 * the step is looked up, by the words of whoever parses it. */
static int check_pattern(int (*make)(struct bytes pattern, struct filter **out),
			 struct bytes pattern)
{
	struct filter *f; /* NULL after an error */
	int err = make(pattern, &f);

	filter_free(f);
	return err;
}

/* A step whose value is a pattern, which q borrows: 0, 1 if there is no such
 * step, or an error that says what is wrong with the pattern. */
static int apply_pattern(struct query *q, struct bytes name, struct bytes value)
{
	if (bytes_equal(name, BYTES_LITERAL("regex"))) {
		q->has_regex = true;
		q->regex = value;
		return check_pattern(filter_new_row, value);
	}
	if (bytes_equal(name, BYTES_LITERAL("column"))) {
		q->has_column = true;
		q->column_regex = value;
		return check_pattern(filter_new_qualifier, value);
	}
	if (bytes_equal(name, BYTES_LITERAL("value"))) {
		q->has_value = true;
		q->value = value;
		return check_pattern(filter_new_value, value);
	}
	if (bytes_equal(name, BYTES_LITERAL("filter"))) {
		q->has_expression = true;
		q->expression = value;
		return check_pattern(filter_parse, value);
	}
	return 1;
}

/* Notes in q, which borrows value, what a step says: 0, 1 if the value does not
 * parse, or an error that says what is wrong with a pattern. */
static int apply_step(struct query *q, struct bytes name, struct bytes value)
{
	struct bytes start, end;

	if (bytes_equal(name, BYTES_LITERAL("reverse"))) {
		q->reverse = true;
		return 0;
	}
	if (bytes_equal(name, BYTES_LITERAL("prefix")))
		return limit_to_prefix(q, value);
	if (bytes_equal(name, BYTES_LITERAL("range"))) {
		if (!split_range(value, &start, &end))
			return 1;
		raise_start(q, start);
		lower_end(q, end);
		return 0;
	}
	if (bytes_equal(name, BYTES_LITERAL("family"))) {
		q->has_family = true;
		q->family = value;
		return 0;
	}
	if (bytes_equal(name, BYTES_LITERAL("limit")))
		return !parse_count(value, &q->row_limit);
	if (bytes_equal(name, BYTES_LITERAL("versions"))) {
		q->has_versions = true;
		if (bytes_equal(value, BYTES_LITERAL("all")))
			q->version_limit = UINT64_MAX;
		else if (!parse_count(value, &q->version_limit) ||
			 q->version_limit == 0)
			return 1;
		return 0;
	}
	if (bytes_equal(name, BYTES_LITERAL("since")))
		return time_parse(value, &q->since_us) ? 1 : 0;
	if (bytes_equal(name, BYTES_LITERAL("until")))
		return time_parse(value, &q->until_us) ? 1 : 0;
	return apply_pattern(q, name, value);
}

/* What the value of a step has to be, of those that take not any. */
static const char *wanted(struct bytes name)
{
	if (bytes_equal(name, BYTES_LITERAL("range")))
		return "<from>..<to>, of which either may be empty";
	if (bytes_equal(name, BYTES_LITERAL("limit")))
		return "a number of at most 18 digits";
	if (bytes_equal(name, BYTES_LITERAL("versions")))
		return "a number from 1 on, or all";
	return "a time, such as 2024-05-31T12:00:00Z or microseconds";
}

int query_check_step(struct bytes name, struct bytes value)
{
	struct query q;
	int err;

	memset(&q, 0, sizeof(q));
	err = apply_step(&q, name, value);
	buf_release(&q.prefix_end);
	if (err == 1)
		return fail(ENOENT, "%.*s/%.*s: wants %s", (int)name.size,
			    (const char *)name.data, (int)value.size,
			    (const char *)value.data, wanted(name));
	/* A wrong pattern is a name that does not exist: ENOENT, not EINVAL. */
	return err == -ERR_bad_argument
		       ? fail(ENOENT, "%.*s: %s", (int)name.size,
			      (const char *)name.data, err_detail())
		       : err;
}

int query_step_rows(struct bytes name, struct bytes value, struct bytes *start,
		    struct buf *end)
{
	struct query q = { .form = QUERY_ROWS };
	int err;

	assert(bytes_equal(name, BYTES_LITERAL("prefix")) ||
	       bytes_equal(name, BYTES_LITERAL("range")));
	err = apply_step(&q, name, value);
	*start = q.start;
	if (!err)
		err = buf_set(end, q.end);
	buf_release(&q.prefix_end);
	return err == 1 ? -ENOENT : err;
}

/* Copies the values of the steps above terminal into q->memory and applies
 * each. Room for all is reserved first: q borrows from memory, which must not
 * move afterwards. 0, -ENOENT for a value that does not parse, or an error. */
static int read_steps(struct query *q, struct node *terminal)
{
	struct node *node = terminal->parent;
	struct query_step step;
	size_t size = 0, at;
	int err;

	while (query_next_step(&node, &step))
		size += step.value.size;
	err = buf_reserve(&q->memory, size + 1);
	node = terminal->parent;
	while (!err && query_next_step(&node, &step)) {
		at = q->memory.size;
		assert(q->memory.capacity - at >= step.value.size);
		err = buf_add_bytes(&q->memory, step.value);
		if (!err)
			err = apply_step(
				q, step.name,
				bytes_of(q->memory.data + at, step.value.size));
	}
	return err == 1 ? -ENOENT : err;
}

/* Makes q one of this row only, whose key it copies. 0 or -ENOMEM. */
static int take_row(struct query *q, struct bytes row)
{
	int err = buf_set(&q->memory, row);

	/* No key is between a row's and the same with a NUL behind it. */
	if (!err)
		err = buf_add_byte(&q->memory, 0);
	q->start = bytes_of(q->memory.data, row.size);
	q->end = buf_bytes(&q->memory);
	return err;
}

/* Fills a zeroed q, but for its form, with what stands before any step and with
 * the steps. After an error q is to be released all the same. */
static int prepare(struct fs *fs, struct node *terminal, struct query *q)
{
	struct place place;
	int err;

	assert(terminal->parent->kind == NODE_SCAN ||
	       terminal->kind == NODE_ROW_JSON);
	err = place_enter(fs, terminal, &place);
	q->node = terminal;
	if (!err && terminal->kind == NODE_ROW_JSON)
		err = take_row(q, place.path.row);
	place_leave(fs, &place);
	if (err)
		return err;
	q->delimiter = bytes_string(fs->options->delimiter);
	q->row_limit = UINT64_MAX;
	q->version_limit = 1;
	q->until_us = UINT64_MAX;
	if (terminal->kind == NODE_ROW_JSON)
		q->version_limit = UINT64_MAX;
	else
		err = read_steps(q, terminal);
	/* An expression chooses versions itself, unless the path does. */
	if (q->has_expression && !q->has_versions)
		q->version_limit = UINT64_MAX;
	return err;
}

int query_open(struct fs *fs, struct node *node, enum query_form form,
	       struct query **out)
{
	struct query *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
	q->form = form;
	err = prepare(fs, node, q);
	if (!err)
		err = store_snapshot(fs->store, &q->snapshot);
	if (!err)
		err = query_rewind(fs, q);
	if (err)
		query_close(fs, q);
	else
		*out = q;
	return err;
}

/* Gives back all that q owns; q itself is the caller's. */
static void release(struct fs *fs, struct query *q)
{
	if (q->scan)
		scan_close(q->scan);
	filter_free(q->filter);
	if (q->snapshot)
		store_snapshot_release(fs->store, q->snapshot);
	buf_release(&q->memory);
	buf_release(&q->prefix_end);
	buf_release(&q->row);
	buf_release(&q->column);
}

void query_close(struct fs *fs, struct query *q)
{
	release(fs, q);
	free(q);
}

/* Whether a row with start <= key < end (empty: open) passes q, which is as
 * prepare left it and borrows both: 1, 0 or an error. The step limit is put
 * aside, since a link that another lists must be found; the order does not
 * matter for one row. */
static int has_row(struct fs *fs, struct query *q, struct bytes start,
		   struct bytes end)
{
	struct cell cell;
	int err;

	raise_start(q, start);
	lower_end(q, end);
	q->row_limit = 1;
	q->reverse = false;
	err = query_rewind(fs, q);
	return err ? err : query_next_row(q, &cell);
}

int query_has_row(struct fs *fs, struct node *rows, struct bytes row)
{
	struct buf end = BUF_INIT;
	struct query q = { .form = QUERY_ROWS };
	int err = prepare(fs, rows, &q);

	/* The first key after row. */
	if (!err)
		err = buf_set(&end, row);
	if (!err)
		err = buf_add_byte(&end, 0);
	if (!err)
		err = has_row(fs, &q, row, buf_bytes(&end));
	buf_release(&end);
	release(fs, &q);
	return err;
}

int query_has_segment(struct fs *fs, struct node *segments,
		      struct bytes segment)
{
	struct buf start = BUF_INIT, end = BUF_INIT;
	struct query q = { .form = QUERY_SEGMENTS };
	bool bounded = true;
	int err = prepare(fs, segments, &q);

	/* One row, or all rows whose keys begin with prefix and segment. */
	if (!err)
		err = buf_set(&start, q.prefix);
	if (!err)
		err = buf_add_bytes(&start, segment);
	if (!err)
		err = buf_set(&end, buf_bytes(&start));
	if (!err && query_is_row(&q, segment))
		err = buf_add_byte(&end, 0);
	else if (!err)
		bounded = query_pass_prefix(&end);
	if (!err)
		err = has_row(fs, &q, buf_bytes(&start),
			      bounded ? buf_bytes(&end) : BYTES_NONE);
	buf_release(&start);
	buf_release(&end);
	release(fs, &q);
	return err;
}
