#include <errno.h>
#include <stdlib.h>

#include "fs/query.h"
#include "store/text.h"

/* The steps of a path, from its end. Scan nodes are never renamed and hold
 * their parents, so no lock is needed to walk up. */
struct step {
	struct bytes name, value;
};

/* Takes the next step above *node; false when there is none. */
static bool next_step(struct node **node, struct step *step)
{
	struct node *n = *node;

	if (n->kind != NODE_SCAN || n->parent->kind == NODE_TABLE)
		return false;
	if (n->parent->kind == NODE_SCAN_STEP) {
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
	struct step step;

	(void)fs;
	while (next_step(&node, &step))
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

/* The larger of two starts. */
static void raise_start(struct query *q, struct bytes start)
{
	if (bytes_compare(start, q->start) > 0)
		q->start = start;
}

/* The smaller of two ends, where empty is the largest. */
static void lower_end(struct query *q, struct bytes end)
{
	if (end.size > 0 &&
	    (q->end.size == 0 || bytes_compare(end, q->end) < 0))
		q->end = end;
}

/* The rows with a prefix end before the first key that is larger than all of
 * them; none is if it is all FF. */
static int limit_to_prefix(struct query *q, struct bytes prefix)
{
	int err = buf_set(&q->prefix_end, prefix);

	if (err)
		return err;
	while (q->prefix_end.size > 0 &&
	       q->prefix_end.data[q->prefix_end.size - 1] == 0xff)
		q->prefix_end.size--;
	if (q->prefix_end.size > 0)
		q->prefix_end.data[q->prefix_end.size - 1]++;
	raise_start(q, prefix);
	lower_end(q, buf_bytes(&q->prefix_end));
	return 0;
}

/* 0, 1 if the value does not parse, or an error. */
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
	return 1;
}

int query_check_step(struct bytes name, struct bytes value)
{
	struct query q;
	int err;

	memset(&q, 0, sizeof(q));
	err = apply_step(&q, name, value);
	buf_release(&q.prefix_end);
	if (err == 1)
		return fail(ENOENT, "%.*s/%.*s: the value does not parse",
			    (int)name.size, (const char *)name.data,
			    (int)value.size, (const char *)value.data);
	return err;
}

/* Copies the steps into q->memory, whose place must not move afterwards. */
static int read_steps(struct query *q, struct node *terminal)
{
	struct node *node = terminal->parent;
	struct step step;
	size_t size = 0, at;
	int err;

	while (next_step(&node, &step))
		size += step.value.size;
	err = buf_reserve(&q->memory, size + 1);
	node = terminal->parent;
	while (!err && next_step(&node, &step)) {
		at = q->memory.size;
		err = buf_add_bytes(&q->memory, step.value);
		if (!err)
			err = apply_step(
				q, step.name,
				bytes_of(q->memory.data + at, step.value.size));
	}
	return err == 1 ? -ENOENT : err;
}

static int prepare(struct fs *fs, struct node *terminal, struct query *q)
{
	struct path path;
	int err = node_path(&fs->nodes, terminal, &path);

	if (err)
		return err;
	q->row_limit = UINT64_MAX;
	q->version_limit = 1;
	q->until_us = UINT64_MAX;
	err = buf_set(&q->table_name, path.table);
	path_release(&path);
	if (err)
		return err;
	return read_steps(q, terminal);
}

int query_open(struct fs *fs, struct node *node, struct query **out)
{
	struct query *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
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

void query_close(struct fs *fs, struct query *q)
{
	if (q->scan)
		scan_close(q->scan);
	if (q->snapshot)
		store_snapshot_release(fs->store, q->snapshot);
	buf_release(&q->memory);
	buf_release(&q->table_name);
	buf_release(&q->prefix_end);
	buf_release(&q->row);
	buf_release(&q->column);
	free(q);
}

int query_rewind(struct fs *fs, struct query *q)
{
	struct scan_range range = {
		.table = buf_bytes(&q->table_name),
		.start = q->start,
		.end = q->end,
		.reverse = q->reverse,
	};

	if (q->scan)
		scan_close(q->scan);
	q->scan = NULL;
	q->row_count = 0;
	q->is_in_row = false;
	q->step = CURSOR_ROW;
	/* A range that ends before it starts is empty. */
	q->ended = q->row_limit == 0 ||
		   (q->end.size > 0 && bytes_compare(q->start, q->end) >= 0);
	return q->ended ? 0
			: scan_open(fs->store, q->snapshot, &range, &q->scan);
}

/* Notes where cell stands. 0 or -ENOMEM. */
static int enter_cell(struct query *q, const struct cell *cell)
{
	int err;

	if (!q->is_in_row || !bytes_equal(cell->row, buf_bytes(&q->row))) {
		err = buf_set(&q->row, cell->row);
		if (err)
			return err;
		q->is_in_row = true;
		q->row_passed = false;
		q->family_size = SIZE_MAX;
	}
	if (q->family_size == cell->family.size &&
	    q->column.size == cell->family.size + cell->qualifier.size &&
	    bytes_starts_with(buf_bytes(&q->column), cell->family) &&
	    bytes_equal(bytes_after(buf_bytes(&q->column), q->family_size),
			cell->qualifier))
		return 0;
	q->version_count = 0;
	q->family_size = cell->family.size;
	err = buf_set(&q->column, cell->family);
	return err ? err : buf_add_bytes(&q->column, cell->qualifier);
}

/* Whether cell passes; if not, q->step leads on. */
static bool passes(struct query *q, const struct cell *cell)
{
	int order = q->has_family ? bytes_compare(cell->family, q->family) : 0;

	if (order) {
		q->step = order < 0 ? CURSOR_FAMILY : CURSOR_ROW;
		return false;
	}
	if (cell->timestamp_us >= q->until_us) {
		q->step = CURSOR_VERSION;
		return false;
	}
	if (cell->timestamp_us < q->since_us) {
		q->step = CURSOR_COLUMN;
		return false;
	}
	return true;
}

int query_next(struct query *q, struct cell *cell)
{
	int err;

	while (!q->ended) {
		err = scan_next(q->scan, q->step, cell);
		if (err == 0 && q->reverse && q->step != CURSOR_ROW) {
			q->step = CURSOR_ROW;
			continue;
		}
		if (err == 1)
			err = enter_cell(q, cell) ? -ENOMEM : 1;
		if (err <= 0) {
			q->ended = true;
			return err;
		}
		if (!passes(q, cell))
			continue;
		if (!q->row_passed && q->row_count++ == q->row_limit)
			break;
		q->row_passed = true;
		q->step = ++q->version_count >= q->version_limit
				  ? CURSOR_COLUMN
				  : CURSOR_VERSION;
		return 1;
	}
	q->ended = true;
	return 0;
}

int query_next_row(struct query *q, struct cell *cell)
{
	if (q->is_in_row)
		q->step = CURSOR_ROW;
	return query_next(q, cell);
}

int query_has_row(struct fs *fs, struct node *rows, struct bytes row)
{
	struct query q;
	int err;

	if (row.size == 0 || row.size > STORE_ROW_KEY_MAX)
		return 0;
	memset(&q, 0, sizeof(q));
	err = prepare(fs, rows, &q);
	if (!err && bytes_compare(row, q.start) >= 0 &&
	    (q.end.size == 0 || bytes_compare(row, q.end) < 0))
		err = store_row_exists(fs->store, buf_bytes(&q.table_name),
				       row);
	buf_release(&q.memory);
	buf_release(&q.table_name);
	buf_release(&q.prefix_end);
	return err;
}
