#include <assert.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/engine/large/large.h"
#include "store/engine/read/get.h"
#include "store/model/write.h"

/*
 * Rules become one new version of each column. Under the lock of all commits
 * each column is looked up once (measure), which tells how large what comes of
 * the rules is, and so all that can be wrong with them; then the new values are
 * made (make) and put.
 *
 * If one of them is large, making it takes long. Then the lock is given back
 * for that, and taken once more to see that every column is still what it was;
 * if not, it is made anew, and the last time with the lock.
 */
#define TRIES_MAX 3
/* A value up to this is read where it is looked up. */
#define READ_AT_ONCE ((size_t)64 << 10)
/* Of a large value, between two questions whether to stop. */
#define READ_PIECE ((size_t)1 << 20)
/* What of a cell is neither name nor value, in a batch or an answer. */
#define CELL_EXTRA 64

struct column {
	/* Its rules, in order. */
	const struct modify_rule **rules;
	size_t rule_count;
	/* What was found: whether there was a version, and which. */
	bool looked, found;
	uint64_t timestamp_us, seq;
	struct large *base; /* its value, if that is large; else NULL, */
	size_t old_start;   /* and the value lies in olds, */
	size_t old_size;    /* with so many bytes */
	/* What the rules that were measured so far make of it. */
	bool exists;
	uint64_t size;
	/* When it is made: its place in memory, and itself if it is large. */
	size_t start;
	struct large *made;
};

struct modifying {
	struct store *s;
	const struct modify *q;
	const struct modify_rule **by_column; /* the rules, and in order */
	uint32_t *column_of;                  /* each rule's */
	struct column *columns;               /* in scan order */
	size_t column_count;
	struct buf olds;
	struct buf *memory; /* the caller's, for the new values */
	struct cell *cells; /* the caller's */
	size_t counted;     /* of what is here, as MEMORY_REQUESTS */
	uint64_t total;     /* bytes of new values and their names, measured */
	bool made;          /* of what was measured before */
	bool changed;       /* something is not as it was measured before */
	bool unlocked;      /* the update ended to make them */
	unsigned int tries;
};

static int compare_columns(const struct modify_rule *a,
			   const struct modify_rule *b)
{
	int order = bytes_compare(a->family, b->family);

	return order ? order : bytes_compare(a->qualifier, b->qualifier);
}

/* By column, and of one column in the order of the rules, which lie so. */
static int compare_rules(const void *a, const void *b)
{
	const struct modify_rule *left = *(const struct modify_rule *const *)a;
	const struct modify_rule *right = *(const struct modify_rule *const *)b;
	int order = compare_columns(left, right);

	return order ? order : (left > right) - (left < right);
}

/* Counts what it has of its own, besides what the caller counts. */
static void count_memory(struct modifying *m)
{
	struct memory *memory = store_memory(m->s);
	size_t each = sizeof(*m->by_column) + sizeof(*m->column_of);
	size_t now = m->olds.capacity + m->q->count * each +
		     m->column_count * sizeof(*m->columns);

	memory_hold(memory, MEMORY_REQUESTS, now);
	memory_give(memory, MEMORY_REQUESTS, m->counted);
	m->counted = now;
}

/* Who has which rules. */
static void find_columns(struct modifying *m)
{
	struct column *c = NULL;
	size_t i;

	for (i = 0; i < m->q->count; i++) {
		const struct modify_rule **rule = &m->by_column[i];

		if (!c || compare_columns(c->rules[0], *rule) != 0) {
			c = &m->columns[m->column_count++];
			c->rules = rule;
		}
		c->rule_count++;
		m->column_of[*rule - m->q->rules] = (uint32_t)(c - m->columns);
	}
}

static int begin(struct modifying *m)
{
	size_t i, count = m->q->count;

	m->by_column = calloc(count, sizeof(*m->by_column));
	m->column_of = calloc(count, sizeof(*m->column_of));
	m->columns = calloc(count, sizeof(*m->columns));
	if (!m->by_column || !m->column_of || !m->columns)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		m->by_column[i] = &m->q->rules[i];
	qsort(m->by_column, count, sizeof(*m->by_column), compare_rules);
	find_columns(m);
	count_memory(m);
	return 0;
}

static void release(struct modifying *m)
{
	size_t i;

	for (i = 0; i < m->column_count; i++) {
		large_put(m->columns[i].base);
		large_put(m->columns[i].made);
	}
	free(m->by_column);
	free(m->column_of);
	free(m->columns);
	buf_release(&m->olds);
	memory_give(store_memory(m->s), MEMORY_REQUESTS, m->counted);
}

/* A large value stays where it is, unless that is little. Its references, which
 * lie in olds, go. */
static int keep_large(struct modifying *m, struct column *c,
		      struct large *large)
{
	int err = 0;

	large_put(c->base);
	c->base = NULL;
	if (large)
		m->olds.size = c->old_start;
	if (large && large_size(large) > READ_AT_ONCE) {
		c->base = large;
	} else if (large) {
		err = large_load(large, &m->olds);
		large_put(large);
	}
	c->old_size = m->olds.size - c->old_start;
	return err;
}

/* Finds the newest version of a column that the update has not looked at yet,
 * whose value, if it is not large, goes to olds. */
static int look(struct modifying *m, struct column *c, struct write *w)
{
	const struct modify_rule *r = c->rules[0];
	int err = write_plain_column(w, r->family, r->qualifier);
	struct large *large = NULL;
	struct cell cell;
	bool found;

	if (err < 0)
		return err;
	c->old_start = m->olds.size;
	err = cursor_get(m->s->engine, NULL, buf_bytes(&w->key), &cell,
			 &m->olds, &large);
	if (err < 0)
		return err;
	found = err == 1;
	if (!found)
		cell = (struct cell){ .seq = 0 };
	m->changed |= c->found != found || c->seq != cell.seq ||
		      c->timestamp_us != cell.timestamp_us;
	c->looked = true;
	c->found = c->exists = found;
	c->seq = cell.seq;
	c->timestamp_us = cell.timestamp_us;
	err = keep_large(m, c, large);
	c->size = c->base ? large_size(c->base) : c->old_size;
	m->total += CELL_EXTRA + r->family.size + r->qualifier.size + c->size;
	return err;
}

/* What a rule makes of the size, if it can be followed. */
static int measure_rule(struct modifying *m, struct column *c,
			const struct modify_rule *r)
{
	uint64_t before = c->size;
	int err;

	if (r->is_increment && c->exists && c->size != 8)
		return fail(ERR_not_a_number,
			    "increment on non-64-bit value: it has %llu bytes",
			    (unsigned long long)c->size);
	c->size = r->is_increment ? 8 : c->size + r->value.size;
	c->exists = true;
	m->total += c->size - before;
	err = write_check_size(c->size);
	if (err == 0 && m->total > BATCH_SIZE_MAX)
		return fail(ERR_batch_too_large,
			    "the new values have more than %u bytes together: "
			    "change fewer columns at once",
			    BATCH_SIZE_MAX);
	return err;
}

/* Looks the columns up and follows the rules in their order, so that of what is
 * wrong the first is told. Nothing is copied but old values that are small. */
static int measure(struct modifying *m, struct write *w)
{
	size_t i;
	int err = 0;

	buf_reset(&m->olds);
	m->total = 0;
	m->changed = false;
	for (i = 0; i < m->column_count; i++)
		m->columns[i].looked = false;
	for (i = 0; i < m->q->count && err == 0; i++) {
		struct column *c = &m->columns[m->column_of[i]];

		if (!c->looked)
			err = look(m, c, w);
		if (err == 0)
			err = measure_rule(m, c, &m->q->rules[i]);
	}
	count_memory(m);
	return err;
}

static bool stopped(const struct modifying *m)
{
	return m->q->stop && m->q->stop(m->q->context);
}

/* The old value to out, for which there is room. */
static int copy_old(const struct modifying *m, const struct column *c,
		    uint8_t *out)
{
	uint64_t size = c->base ? large_size(c->base) : 0, at;
	int err = 0;

	if (!c->base && c->old_size > 0)
		memcpy(out, m->olds.data + c->old_start, c->old_size);
	for (at = 0; at < size && err == 0; at += READ_PIECE) {
		size_t piece = size - at < READ_PIECE ? (size_t)(size - at)
						      : READ_PIECE;

		err = stopped(m) ? -EINTR
				 : large_read(c->base, at, out + at, piece);
	}
	return err;
}

/* The new value, in its place. Added without sign, where an overflow is defined
 * to wrap around. */
static int make_value(const struct modifying *m, const struct column *c)
{
	uint8_t *out = m->memory->data + c->start;
	size_t size = c->base ? (size_t)large_size(c->base) : c->old_size, i;
	int err = copy_old(m, c, out);

	for (i = 0; i < c->rule_count && err == 0; i++) {
		const struct modify_rule *r = c->rules[i];

		if (r->is_increment) {
			put_u64be(out, (size ? get_u64be(out) : 0) +
					       (uint64_t)r->amount);
			size = 8;
		} else if (r->value.size > 0) {
			memcpy(out + size, r->value.data, r->value.size);
			size += r->value.size;
		}
	}
	assert(err < 0 || size == c->size);
	return err;
}

/* Writes it to a blob file if it is large, of which what a large one before has
 * as well is borrowed. */
static int make_large(const struct modifying *m, struct column *c)
{
	size_t shared = c->base ? (size_t)large_size(c->base) : 0;
	struct bytes value = bytes_of(m->memory->data + c->start, c->size);

	large_put(c->made);
	c->made = NULL;
	if (c->size < m->s->large_size)
		return 0;
	return large_append(m->s->engine, c->base, bytes_after(value, shared),
			    &c->made);
}

/* Makes all new values of what was measured. */
static int make(struct modifying *m)
{
	size_t i, total = 0;
	int err;

	for (i = 0; i < m->column_count; i++) {
		m->columns[i].start = total;
		total += (size_t)m->columns[i].size;
	}
	buf_reset(m->memory);
	err = buf_fit(m->memory, total + 1);
	for (i = 0; i < m->column_count && err == 0; i++) {
		err = make_value(m, &m->columns[i]);
		if (err == 0)
			err = make_large(m, &m->columns[i]);
	}
	if (err == 0)
		m->memory->size = total;
	m->made = err == 0;
	return err;
}

/* One new version, as a result and in w. A newest one that lies ahead is
 * replaced. */
static int put(struct modifying *m, const struct column *c, struct cell *cell,
	       struct write *w)
{
	const struct modify_rule *r = c->rules[0];
	uint64_t now = write_now(w);

	*cell = (struct cell){
		.row = m->q->row,
		.family = r->family,
		.qualifier = r->qualifier,
		.timestamp_us = c->timestamp_us < now ? now : c->timestamp_us,
		.value = bytes_of(m->memory->data + c->start, c->size),
	};
	return c->made ? write_set_large(w, r->family, r->qualifier,
					 cell->timestamp_us, c->made)
		       : write_set(w, r->family, r->qualifier,
				   cell->timestamp_us, cell->value);
}

static bool has_large(const struct modifying *m)
{
	size_t i;

	for (i = 0; i < m->column_count; i++)
		if (m->columns[i].size >= m->s->large_size)
			return true;
	return false;
}

/* -EAGAIN with unlocked: to be called again after make. */
static int decide(void *context, struct write *w)
{
	struct modifying *m = context;
	const struct modify *q = m->q;
	int err = write_row(w, q->table, q->row);
	size_t i;

	m->unlocked = false;
	if (err == 0)
		err = measure(m, w);
	if (err < 0)
		return err;
	if (!m->made || m->changed) {
		m->made = false;
		if (q->take && !q->take(q->context, m->total))
			return -EAGAIN;
		m->unlocked = m->tries++ < TRIES_MAX && has_large(m);
		if (m->unlocked)
			return -EAGAIN;
		err = make(m);
	}
	if (err == 0 && stopped(m))
		err = -EINTR;
	for (i = 0; i < m->column_count && err == 0; i++)
		err = put(m, &m->columns[i], &m->cells[i], w);
	return err;
}

int store_modify_row(struct store *s, const struct modify *q, bool sync,
		     struct cell *cells, struct buf *memory)
{
	struct modifying m = {
		.s = s, .q = q, .memory = memory, .cells = cells
	};
	int err;

	buf_reset(memory);
	if (q->count == 0)
		return fail(ERR_bad_argument, "no rules were given");
	if (q->count > STORE_MUTATIONS_MAX)
		return fail(ERR_batch_too_large, "more than %d changes",
			    STORE_MUTATIONS_MAX);
	err = begin(&m);
	while (err == 0) {
		err = store_update(s, decide, &m, sync);
		if (err != -EAGAIN || !m.unlocked)
			break;
		err = make(&m);
	}
	release(&m);
	return err < 0 ? err : (int)m.column_count;
}
