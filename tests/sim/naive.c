#include <stdlib.h>

#include "tests/sim/naive.h"

static void family_release(struct naive_family *f)
{
	gc_policy_free(f->gc);
}

static void table_release(struct naive_table *t)
{
	size_t i;

	for (i = 0; i < t->family_count; i++)
		family_release(&t->families[i]);
}

void naive_schema_release(struct naive_schema *s)
{
	size_t i;

	for (i = 0; i < s->table_count; i++)
		table_release(&s->tables[i]);
	s->table_count = 0;
}

void naive_release(struct naive *n)
{
	naive_schema_release(&n->schema);
	free(n->cells);
	*n = (struct naive){ 0 };
}

int naive_schema_copy(const struct naive_schema *from, struct naive_schema *to)
{
	size_t i, j;
	int err = 0;

	*to = *from;
	for (i = 0; i < to->table_count; i++)
		for (j = 0; j < to->tables[i].family_count; j++) {
			struct naive_family *f = &to->tables[i].families[j];

			if (gc_policy_copy(f->gc, &f->gc) < 0)
				err = -ENOMEM;
		}
	return err;
}

struct naive_table *naive_table(struct naive *n, struct bytes name)
{
	size_t i;

	for (i = 0; i < n->schema.table_count; i++)
		if (bytes_equal(n->schema.tables[i].name, name))
			return &n->schema.tables[i];
	return NULL;
}

struct naive_family *naive_family(struct naive_table *t, struct bytes name)
{
	size_t i;

	for (i = 0; i < t->family_count; i++)
		if (bytes_equal(t->families[i].name, name))
			return &t->families[i];
	return NULL;
}

int naive_create_table(struct naive *n, struct bytes name, bool millis)
{
	struct naive_table *t;

	if (naive_table(n, name))
		return -ERR_table_exists;
	t = &n->schema.tables[n->schema.table_count++];
	*t = (struct naive_table){ .name = name, .millis = millis };
	t->id = ++n->schema.last_id;
	return 0;
}

int naive_drop_table(struct naive *n, struct bytes name)
{
	struct naive_table *t = naive_table(n, name);

	if (!t)
		return -ERR_no_table;
	table_release(t);
	*t = n->schema.tables[--n->schema.table_count];
	return 0;
}

int naive_rename_table(struct naive *n, struct bytes from, struct bytes to)
{
	struct naive_table *t = naive_table(n, from);

	if (!t)
		return -ERR_no_table;
	if (naive_table(n, to))
		return -ERR_table_exists;
	t->name = to;
	return 0;
}

int naive_create_family(struct naive *n, struct bytes table,
			const struct family_spec *spec)
{
	struct naive_table *t = naive_table(n, table);
	struct naive_family *f;

	if (!t)
		return -ERR_no_table;
	if (naive_family(t, spec->name))
		return -ERR_family_exists;
	f = &t->families[t->family_count++];
	*f = (struct naive_family){ .name = spec->name, .type = spec->type };
	f->id = ++n->schema.last_id;
	return gc_policy_copy(spec->gc, &f->gc);
}

int naive_drop_family(struct naive *n, struct bytes table, struct bytes name)
{
	struct naive_table *t = naive_table(n, table);
	struct naive_family *f;

	if (!t)
		return -ERR_no_table;
	f = naive_family(t, name);
	if (!f)
		return -ERR_no_family;
	family_release(f);
	*f = t->families[--t->family_count];
	return 0;
}

int naive_set_gc(struct naive *n, struct bytes table, struct bytes family,
		 const struct gc_policy *gc, uint64_t now_us)
{
	struct naive_table *t = naive_table(n, table);
	struct naive_match match = { .has_family = true, .family = family };
	struct naive_family *f;
	int err;

	if (!t)
		return -ERR_no_table;
	f = naive_family(t, family);
	if (!f)
		return -ERR_no_family;
	if (gc_policy_equal(f->gc, gc))
		return 0;
	match.table = t->id;
	err = naive_bury(n, &match, now_us);
	if (err < 0)
		return err;
	gc_policy_free(f->gc);
	return gc_policy_copy(gc, &f->gc);
}

static bool same_version(const struct naive_cell *a, const struct naive_cell *b)
{
	return a->table == b->table && a->family_id == b->family_id &&
	       a->timestamp_us == b->timestamp_us &&
	       bytes_equal(a->row, b->row) &&
	       bytes_equal(a->qualifier, b->qualifier);
}

static int64_t add_numbers(enum aggregate_kind kind, int64_t a, int64_t b)
{
	switch (kind) {
	case AGGREGATE_MIN:
		return a < b ? a : b;
	case AGGREGATE_MAX:
		return a > b ? a : b;
	case AGGREGATE_HLL:
		return a | b;
	default:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	}
}

int naive_put(struct naive *n, const struct naive_cell *cell)
{
	struct naive_cell *grown, *fresh;
	size_t i;

	if (n->count == n->capacity) {
		size_t capacity = n->capacity * 2 + 64;

		grown = realloc(n->cells, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		n->cells = grown;
		n->capacity = capacity;
	}
	fresh = &n->cells[n->count];
	*fresh = *cell;
	fresh->seq = ++n->seq;
	fresh->dead_seq = UINT64_MAX;
	for (i = 0; i < n->count; i++) {
		struct naive_cell *c = &n->cells[i];

		if (c->dead_seq != UINT64_MAX || !same_version(c, fresh))
			continue;
		c->dead_seq = fresh->seq;
		if (fresh->aggregate)
			fresh->number = add_numbers(fresh->aggregate,
						    fresh->number, c->number);
	}
	n->count++;
	return 0;
}

static bool matches(const struct naive_match *m, const struct naive_cell *c)
{
	return c->table == m->table && bytes_starts_with(c->row, m->prefix) &&
	       (!m->has_row || bytes_equal(c->row, m->row)) &&
	       (!m->has_family || bytes_equal(c->family, m->family)) &&
	       (!m->has_qualifier || bytes_equal(c->qualifier, m->qualifier)) &&
	       c->timestamp_us >= m->from_us &&
	       (m->to_us == 0 || c->timestamp_us < m->to_us);
}

void naive_delete(struct naive *n, const struct naive_match *match)
{
	size_t i;

	n->seq++;
	for (i = 0; i < n->count; i++)
		if (n->cells[i].dead_seq == UINT64_MAX &&
		    matches(match, &n->cells[i]))
			n->cells[i].dead_seq = n->seq;
}

void naive_erase(struct naive *n, const struct naive_match *match)
{
	size_t i, count = 0;

	for (i = 0; i < n->count; i++)
		if (!matches(match, &n->cells[i]))
			n->cells[count++] = n->cells[i];
	n->count = count;
}

static int compare_cells(const void *left, const void *right)
{
	const struct naive_cell *a = *(const struct naive_cell *const *)left;
	const struct naive_cell *b = *(const struct naive_cell *const *)right;
	int order = bytes_compare(a->row, b->row);

	if (order == 0)
		order = bytes_compare(a->family, b->family);
	if (order == 0)
		order = bytes_compare(a->qualifier, b->qualifier);
	if (order == 0)
		order = (a->timestamp_us < b->timestamp_us) -
			(a->timestamp_us > b->timestamp_us);
	return order;
}

static bool same_column(const struct naive_cell *a, const struct naive_cell *b)
{
	return bytes_equal(a->row, b->row) && a->family_id == b->family_id &&
	       bytes_equal(a->qualifier, b->qualifier);
}

static bool is_live(const struct naive_table *t, const struct naive_cell *c,
		    uint64_t seq)
{
	size_t i;

	if (c->table != t->id || c->seq > seq || c->dead_seq <= seq)
		return false;
	for (i = 0; i < t->family_count; i++)
		if (t->families[i].id == c->family_id)
			return true;
	return false;
}

/* With kept, the cells that are seen; else those that a rule hides. */
static int select_cells(const struct naive *n, const struct naive_table *t,
			uint64_t seq, uint64_t now_us, bool kept,
			struct naive_view *out)
{
	const struct naive_cell *last = NULL;
	size_t i, live = 0;
	uint64_t rank = 0;
	bool keep;

	out->count = 0;
	out->items = malloc((n->count + 1) * sizeof(*out->items));
	if (!out->items)
		return -ENOMEM;
	for (i = 0; i < n->count; i++)
		if (is_live(t, &n->cells[i], seq))
			out->items[live++] = &n->cells[i];
	qsort(out->items, live, sizeof(*out->items), compare_cells);
	for (i = 0; i < live; i++) {
		const struct naive_cell *c = out->items[i];
		const struct naive_family *f = naive_family(
			(struct naive_table *)(uintptr_t)t, c->family);

		if (!last || !same_column(last, c))
			rank = 0;
		last = c;
		keep = gc_keep(f->gc, rank++, c->timestamp_us, now_us);
		if (keep == kept)
			out->items[out->count++] = c;
	}
	return 0;
}

int naive_view(const struct naive *n, const struct naive_table *t, uint64_t seq,
	       uint64_t now_us, struct naive_view *out)
{
	return select_cells(n, t, seq, now_us, true, out);
}

int naive_bury(struct naive *n, const struct naive_match *match,
	       uint64_t now_us)
{
	struct naive_view hidden;
	size_t i, j;
	int err = -ERR_no_table;

	n->seq++;
	for (i = 0; i < n->schema.table_count; i++) {
		const struct naive_table *t = &n->schema.tables[i];

		if (t->id != match->table)
			continue;
		err = select_cells(n, t, n->seq, now_us, false, &hidden);
		if (err < 0)
			return err;
		for (j = 0; j < hidden.count; j++)
			if (matches(match, hidden.items[j]))
				n->cells[hidden.items[j] - n->cells].dead_seq =
					n->seq;
		free(hidden.items);
	}
	return err;
}

void naive_rewind(struct naive *n, uint64_t seq)
{
	size_t i, count = 0;

	for (i = 0; i < n->count; i++) {
		struct naive_cell c = n->cells[i];

		if (c.seq > seq)
			continue;
		if (c.dead_seq > seq)
			c.dead_seq = UINT64_MAX;
		n->cells[count++] = c;
	}
	n->count = count;
	n->seq = seq;
}

void naive_purge(struct naive *n, uint64_t seq)
{
	size_t i, count = 0;

	for (i = 0; i < n->count; i++)
		if (n->cells[i].dead_seq > seq)
			n->cells[count++] = n->cells[i];
	n->count = count;
}

static int aggregate_value(const struct naive_cell *cell, struct buf *out)
{
	struct aggregate sum = { .kind = AGGREGATE_NONE };
	struct buf one = BUF_INIT;
	int64_t number;
	int err = 0;

	if (cell->aggregate != AGGREGATE_HLL)
		return aggregate_of(cell->aggregate, cell->number, out);
	aggregate_start(&sum, AGGREGATE_HLL);
	for (number = 0; number < 64 && !err; number++) {
		if (!((uint64_t)cell->number >> number & 1))
			continue;
		buf_reset(&one);
		err = aggregate_of(AGGREGATE_HLL, number, &one);
		if (!err)
			err = aggregate_add(&sum, buf_bytes(&one));
	}
	if (!err)
		err = buf_add_bytes(out, buf_bytes(&sum.state));
	buf_release(&one);
	aggregate_release(&sum);
	return err;
}

int naive_value(const struct naive_cell *cell, struct buf *out)
{
	uint64_t state = cell->value_id;
	uint32_t size = cell->value_size, i;
	int err;

	buf_reset(out);
	if (cell->aggregate)
		return aggregate_value(cell, out);
	err = buf_reserve(out, size + 8);
	for (i = 0; i < size && !err; i += 8) {
		/* Half of it compresses. */
		state = state * 6364136223846793005u + 1442695040888963407u;
		memcpy(out->data + i, &state, i % 64 < 32 ? 8 : 0);
		if (i % 64 >= 32)
			memset(out->data + i, 'v', 8);
	}
	if (!err)
		out->size = size;
	return err;
}
