#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fs/query/query.h"
#include "fs/query/query_run.h"
#include "fs/query/query_steps.h"
#include "fs/state/name.h"
#include "fs/state/path.h"

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

/* The steps above terminal, from the last to the first: 0, -ENOENT for a value
 * that does not parse, or an error. */
static int read_steps(struct query_steps *st, struct node *terminal)
{
	struct node *node = terminal->parent;
	struct query_step step;
	int err = 0;

	while (!err && query_next_step(&node, &step))
		err = query_steps_add(st, step.name, step.value);
	return err == 1 ? -ENOENT : err;
}

/* All versions of the row. */
static int take_row(struct query_steps *st, struct bytes row)
{
	st->version_limit = UINT64_MAX;
	return select_add_row(&st->select, row);
}

/* Fills a zeroed q, but for its form, with what stands before any step and with
 * the steps. After an error q is to be released all the same. */
static int prepare(struct fs *fs, struct node *terminal, struct query *q)
{
	struct query_steps st;
	struct place place;
	int err;

	assert(terminal->parent->kind == NODE_SCAN ||
	       terminal->kind == NODE_ROW_JSON);
	q->node = terminal;
	q->delimiter = bytes_string(fs->options->delimiter);
	query_steps_init(&st);
	err = place_enter(fs, terminal, &place);
	if (!err && terminal->kind == NODE_ROW_JSON)
		err = take_row(&st, place.path.row);
	place_leave(fs, &place);
	if (!err && terminal->kind != NODE_ROW_JSON)
		err = read_steps(&st, terminal);
	if (!err)
		err = query_steps_finish(&st, q->form != QUERY_CELLS);
	if (!err)
		err = buf_set(&q->prefix, st.prefix);
	q->select = st.select;
	if (q->form == QUERY_SEGMENTS) {
		q->segment_limit = q->select.row_limit;
		q->select.row_limit = UINT64_MAX;
	}
	st.select = (struct select)SELECT_INIT;
	query_steps_release(&st);
	return err;
}

/* On a snapshot of its own if that is NULL. */
int query_open_at(struct fs *fs, struct node *node, enum query_form form,
		  const struct snapshot *snapshot, struct query **out)
{
	struct query *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
	q->form = form;
	err = prepare(fs, node, q);
	if (!err)
		err = snapshot ? 0 : store_snapshot(fs->store, &q->owned);
	q->snapshot = snapshot ? snapshot : q->owned;
	if (!err)
		err = query_rewind(fs, q);
	if (err)
		query_close(fs, q);
	else
		*out = q;
	return err;
}

int query_open(struct fs *fs, struct node *node, enum query_form form,
	       struct query **out)
{
	return query_open_at(fs, node, form, NULL, out);
}

/* Gives back all that q owns; q itself is the caller's. */
static void release(struct fs *fs, struct query *q)
{
	select_close(q->scan);
	select_release(&q->select);
	store_snapshot_release(fs->store, q->owned);
	buf_release(&q->prefix);
	buf_release(&q->row);
}

void query_close(struct fs *fs, struct query *q)
{
	release(fs, q);
	free(q);
}

/* Whether a row passes q, which is as prepare left it and narrowed: 1, 0 or an
 * error. The step limit is put aside, since a link that another lists must be
 * found; the order does not matter for one row. */
static int has_row(struct fs *fs, struct query *q)
{
	struct cell cell;
	int err;

	q->select.row_limit = 1;
	q->select.reverse = false;
	err = query_rewind(fs, q);
	return err ? err : query_next_row(q, &cell);
}

/* Leaves of q's rows the one with this key. */
static int keep_row(struct query *q, struct bytes row)
{
	const struct filter_range one = { .start = row,
					  .end = row,
					  .has_start = true,
					  .has_end = true,
					  .end_closed = true };

	return select_keep_range(&q->select, &one);
}

int query_has_row(struct fs *fs, struct node *rows, struct bytes row)
{
	struct query q = { .form = QUERY_ROWS };
	int err = prepare(fs, rows, &q);

	if (!err)
		err = keep_row(&q, row);
	if (!err)
		err = has_row(fs, &q);
	release(fs, &q);
	return err;
}

int query_has_segment(struct fs *fs, struct node *segments,
		      struct bytes segment)
{
	struct buf key = BUF_INIT;
	struct query q = { .form = QUERY_SEGMENTS };
	int err = prepare(fs, segments, &q);

	/* One row, or all rows whose keys begin with prefix and segment. */
	if (!err)
		err = buf_set(&key, buf_bytes(&q.prefix));
	if (!err)
		err = buf_add_bytes(&key, segment);
	if (!err)
		err = query_is_row(&q, segment)
			      ? keep_row(&q, buf_bytes(&key))
			      : select_keep_prefix(&q.select, buf_bytes(&key));
	if (!err)
		err = has_row(fs, &q);
	buf_release(&key);
	release(fs, &q);
	return err;
}
