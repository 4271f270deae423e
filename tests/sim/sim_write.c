#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/text.h"
#include "tests/sim/sim.h"

/* Names that meet the edges of the key encoding: zeros, 01, FF, prefixes of one
 * another. */
#define NAME(s) BYTES_LITERAL(s)

struct bytes sim_draw_row(struct sim *s)
{
	static char long_row[4][310];
	static char numbered[1000][16];
	static const char *const raw[] = { "a",     "aa",  "ab",    "b",
					   "\xff",  "z",   "zz",    "\x01",
					   "a\xff", "m/n", "m/n/o", "m" };
	uint32_t n = s->first_row + rng_below(&s->rng, s->row_count);

	if (s->row_count < 100)
		n = n * 7 % 64; /* of all kinds */
	switch (n) {
	case 0:
		return NAME("\0");
	case 1:
		return NAME("\0\0");
	case 2:
		return NAME("a\0");
	case 3:
		return NAME("a\0b");
	case 4:
		return NAME("a\0\x01");
	case 5:
		return NAME("a\0\xff");
	case 6:
		return NAME("\xff\xff");
	case 7:
		return NAME("a\x01");
	}
	if (n < 20)
		return bytes_string(raw[n - 8]);
	if (n < 24) {
		memset(long_row[n - 20], 'L', 306);
		snprintf(long_row[n - 20] + 300, 10, "%u", n);
		return bytes_string(long_row[n - 20]);
	}
	snprintf(numbered[n - 24], 16, "row%02u", n);
	return bytes_string(numbered[n - 24]);
}

struct bytes sim_draw_family(struct sim *s)
{
	static const char *const names[] = { "f", "f2", "g", "Z" };

	return bytes_string(names[rng_below(&s->rng, 4)]);
}

struct bytes sim_draw_qualifier(struct sim *s)
{
	switch (rng_below(&s->rng, 8)) {
	case 0:
		return BYTES_NONE;
	case 1:
		return NAME("q\0");
	case 2:
		return NAME("q\0\xff");
	case 3:
		return NAME("\xff");
	case 4:
		return NAME("r");
	default:
		return NAME("q");
	}
}

struct bytes sim_draw_table(struct sim *s)
{
	static const char *const names[] = { "t1", "t1", "t1", "t2", "t3" };

	return bytes_string(names[rng_below(&s->rng, 5)]);
}

enum mutation_kind {
	SET,
	DELETE_CELLS,
	DELETE_COLUMN,
	DELETE_FAMILY,
	DELETE_ROW,
	DELETE_PREFIX,
};

struct mutation {
	enum mutation_kind kind;
	struct naive_match match;
	struct naive_cell cell;
};

static uint64_t draw_timestamp(struct sim *s, bool millis)
{
	uint64_t t;

	switch (rng_below(&s->rng, 4)) {
	case 0:
		return rng_below(&s->rng, 6) * 1000;
	case 1: /* old or new enough for rules by age */
		t = s->now_us - (uint64_t)rng_below(&s->rng, 10) * 50000000;
		break;
	case 2:
		t = s->now_us + rng_below(&s->rng, 3) * 1000;
		break;
	default:
		t = 5000 + rng_below(&s->rng, 4);
	}
	return millis ? t - t % 1000 : t;
}

static enum mutation_kind draw_kind(struct sim *s)
{
	uint32_t n;

	if (rng_below(&s->rng, 100) < s->set_percent)
		return SET;
	n = rng_below(&s->rng, 28);
	return n < 14   ? DELETE_CELLS
	       : n < 19 ? DELETE_COLUMN
	       : n < 23 ? DELETE_FAMILY
	       : n < 27 ? DELETE_ROW
			: DELETE_PREFIX;
}

static void draw_match(struct sim *s, const struct naive_table *t,
		       struct mutation *m)
{
	struct naive_match *d = &m->match;

	if (m->kind == DELETE_PREFIX) {
		if (!rng_one_in(&s->rng, 10))
			d->prefix = sim_draw_row(s);
		if (d->prefix.size > 1 && rng_one_in(&s->rng, 2))
			d->prefix.size--;
		return;
	}
	d->has_row = true;
	d->has_family = m->kind != DELETE_ROW;
	d->has_qualifier = m->kind == SET || m->kind == DELETE_CELLS ||
			   m->kind == DELETE_COLUMN;
	if (d->has_family)
		d->family = sim_draw_family(s);
	if (d->has_qualifier)
		d->qualifier = sim_draw_qualifier(s);
	if (m->kind != DELETE_CELLS)
		return;
	d->from_us = draw_timestamp(s, t && t->millis);
	d->to_us = draw_timestamp(s, t && t->millis);
	if (rng_one_in(&s->rng, 2))
		d->to_us = d->from_us + 1;
	else if (rng_one_in(&s->rng, 3))
		d->to_us = 0;
	else if (rng_one_in(&s->rng, 3))
		d->from_us = 0;
}

static void draw_cell(struct sim *s, const struct naive_table *t,
		      struct mutation *m, uint64_t *timestamp)
{
	struct naive_cell *c = &m->cell;

	c->value_id = ++s->last_value;
	c->value_size = rng_below(&s->rng, 1 << rng_below(&s->rng, 9));
	if (rng_one_in(&s->rng, 60))
		c->value_size = rng_below(&s->rng, 100000);
	*timestamp = draw_timestamp(s, t && t->millis);
	c->timestamp_us = *timestamp;
	if (rng_one_in(&s->rng, 4)) {
		*timestamp = STORE_NOW;
		c->timestamp_us = s->now_us;
		if (t && t->millis)
			c->timestamp_us -= s->now_us % 1000;
	}
	c->row = m->match.row;
	c->family = m->match.family;
	c->qualifier = m->match.qualifier;
}

static int add_to_write(struct sim *s, struct write *w, struct bytes table,
			const struct mutation *m, uint64_t timestamp)
{
	const struct naive_match *d = &m->match;
	struct buf value = BUF_INIT;
	int err;

	switch (m->kind) {
	case SET:
		err = naive_value(m->cell.value_id, m->cell.value_size, &value);
		if (!err)
			err = write_set(w, d->family, d->qualifier, timestamp,
					buf_bytes(&value));
		buf_release(&value);
		return err;
	case DELETE_CELLS:
		return write_delete_cells(w, d->family, d->qualifier,
					  d->from_us, d->to_us);
	case DELETE_COLUMN:
		return write_delete_column(w, d->family, d->qualifier);
	case DELETE_FAMILY:
		return write_delete_family(w, d->family);
	case DELETE_ROW:
		return write_delete_row(w);
	case DELETE_PREFIX:
		return write_delete_prefix(w, table, d->prefix);
	}
	(void)s;
	return -EINVAL;
}

/* What adding m has to return. */
static int expected(struct naive_table *t, const struct mutation *m,
		    struct naive_family **family)
{
	const struct naive_match *d = &m->match;

	if (m->kind == DELETE_CELLS && d->to_us > 0 && d->from_us >= d->to_us)
		return -ERR_bad_timestamp;
	*family = d->has_family ? naive_family(t, d->family) : NULL;
	return d->has_family && !*family ? -ERR_no_family : 0;
}

/* Draws one mutation, adds it to w, and keeps it in m if it was taken: 1. */
static int draw_mutation(struct sim *s, struct write *w, struct naive_table *t,
			 struct bytes row, struct mutation *m)
{
	struct naive_family *family = NULL;
	uint64_t timestamp = 0;
	int want;

	*m = (struct mutation){ .kind = draw_kind(s) };
	m->match.table = t->id;
	draw_match(s, t, m);
	if (m->match.has_row)
		m->match.row = row;
	if (m->kind == SET)
		draw_cell(s, t, m, &timestamp);
	want = expected(t, m, &family);
	sim_log(s,
		" %s %.*s row \"%.*s\" %.*s:%.*s ts %llu from %llu to %llu: "
		"value %u of %u",
		(const char *const[]){ "set", "delete cells", "delete column",
				       "delete family", "delete row",
				       "delete prefix" }[m->kind],
		(int)t->name.size, t->name.data,
		(int)(m->match.has_row ? row : m->match.prefix).size,
		(m->match.has_row ? row : m->match.prefix).data,
		(int)m->match.family.size, m->match.family.data,
		(int)m->match.qualifier.size, m->match.qualifier.data,
		(unsigned long long)m->cell.timestamp_us,
		(unsigned long long)m->match.from_us,
		(unsigned long long)m->match.to_us, m->cell.value_id,
		m->cell.value_size);
	sim_want(s, "add to write", add_to_write(s, w, t->name, m, timestamp),
		 want);
	if (want < 0)
		return 0;
	m->cell.table = t->id;
	m->cell.family_id = family ? family->id : 0;
	/* The prefix deletion ended the row. */
	if (m->kind == DELETE_PREFIX)
		sim_want(s, "row again", write_row(w, t->name, row), 0);
	return 1;
}

static void apply(struct sim *s, const struct mutation *mutations, size_t count)
{
	size_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		if (mutations[i].kind == DELETE_CELLS &&
		    (mutations[i].match.from_us || mutations[i].match.to_us)) {
			struct naive_match column = mutations[i].match;

			column.from_us = column.to_us = 0;
			err = naive_bury(&s->naive, &column, s->now_us);
		}
	for (i = 0; i < count && !err; i++) {
		if (mutations[i].kind == SET)
			err = naive_put(&s->naive, &mutations[i].cell);
		else
			naive_delete(&s->naive, &mutations[i].match);
	}
	sim_want(s, "model", err, 0);
}

void sim_write_op(struct sim *s)
{
	struct bytes name = sim_draw_table(s), row = sim_draw_row(s);
	struct naive_table *t = naive_table(&s->naive, name);
	struct mutation mutations[12];
	uint32_t count = 1 + rng_below(&s->rng, 10), i;
	bool sync = rng_one_in(&s->rng, 12);
	struct write_mark mark;
	struct write *w;
	size_t taken = 0;
	int err;

	s->counts.writes++;
	sim_want(s, "write_new", write_new(s->store, &w), 0);
	err = write_row(w, name, row);
	if (!t) {
		write_free(w);
		sim_want(s, "row of no table", err, -ERR_no_table);
		return;
	}
	sim_want(s, "write_row", err, 0);
	for (i = 0; i < count; i++) {
		bool undo = rng_one_in(&s->rng, 15);

		if (i > 0 && rng_one_in(&s->rng, 4)) {
			row = sim_draw_row(s);
			sim_want(s, "write_row", write_row(w, name, row), 0);
		}
		mark = write_mark(w);
		taken += draw_mutation(s, w, t, row, &mutations[taken]);
		if (undo && write_count(w) > 0) {
			if (write_mark(w).count > mark.count)
				taken--;
			write_rewind(w, mark);
			sim_want(s, "write_row", write_row(w, name, row), 0);
		}
	}
	if (write_count(w) != taken)
		sim_fail(s, "write holds %zu, %zu were added", write_count(w),
			 taken);
	sim_log(s, "commit%s", sync ? ", sync" : "");
	err = store_commit(s->store, w, sync);
	write_free(w);
	sim_want(s, "commit", err, 0);
	apply(s, mutations, taken);
	if (sync) {
		s->states.count = 0; /* sim_step adds what is there now */
	}
}

static void log_policy(const struct sim *s, const struct gc_policy *p)
{
	struct buf words = BUF_INIT;

	if (s->verbose && gc_policy_print_words(p, &words) == 0)
		sim_log(s, " at %llu: %.*s", (unsigned long long)s->now_us,
			(int)words.size, words.data);
	buf_release(&words);
}

static struct gc_policy *draw_policy(struct sim *s, unsigned int depth)
{
	uint32_t n = rng_below(&s->rng, depth > 1 ? 4 : 6);

	if (n < 2)
		return gc_policy_leaf(GC_MAX_VERSIONS,
				      1 + rng_below(&s->rng, 3));
	if (n < 4)
		return gc_policy_leaf(GC_MAX_AGE,
				      (uint64_t)(1 + rng_below(&s->rng, 10)) *
					      40000000);
	return gc_policy_pair(n == 4 ? GC_UNION : GC_INTERSECTION,
			      draw_policy(s, depth + 1),
			      draw_policy(s, depth + 1));
}

static int create_table(struct sim *s, struct bytes name)
{
	static const char *const names[] = { "f", "f2", "g" };
	struct family_spec specs[3] = { { .name = BYTES_NONE } };
	struct gc_policy *policies[3] = { NULL };
	uint32_t count = rng_below(&s->rng, 4), i;
	bool millis = rng_one_in(&s->rng, 2);
	int want = naive_create_table(&s->naive, name, millis), err;

	for (i = 0; i < count; i++) {
		if (rng_one_in(&s->rng, 2))
			policies[i] = draw_policy(s, 0);
		log_policy(s, policies[i]);
		specs[i].name = bytes_string(names[i]);
		specs[i].gc = policies[i];
		if (!want)
			naive_create_family(&s->naive, name, specs[i].name,
					    policies[i]);
	}
	err = store_create_table(s->store, name, millis, specs, count);
	for (i = 0; i < count; i++)
		gc_policy_free(policies[i]);
	sim_want(s, "create table", err, want);
	return err;
}

static int drop_table(struct sim *s, struct bytes name)
{
	const struct naive_table *t = naive_table(&s->naive, name);
	bool only_empty = rng_one_in(&s->rng, 2);
	struct naive_view view;
	int want = -ERR_no_table;
	int err = store_drop_table(s->store, name, only_empty);

	if (t && only_empty) {
		sim_want(s, "view",
			 naive_view(&s->naive, t, s->naive.seq, s->now_us,
				    &view),
			 0);
		want = view.count > 0 ? -ERR_table_not_empty : 0;
		free(view.items);
	} else if (t) {
		want = 0;
	}
	sim_want(s, "drop table", err, want);
	if (!err)
		naive_drop_table(&s->naive, name);
	return err;
}

static int create_family(struct sim *s, struct bytes table, struct bytes name,
			 bool set)
{
	struct gc_policy *gc =
		rng_one_in(&s->rng, 4) ? NULL : draw_policy(s, 0);
	struct family_spec spec = { .name = name, .gc = gc };
	int err, want;

	log_policy(s, gc);
	if (set) {
		s->buries = true;
		err = store_set_gc(s->store, table, name, gc);
		want = naive_set_gc(&s->naive, table, name, gc, s->now_us);
		/* A reader goes by the rules of when it begins, so what an
		 * old snapshot shows under a new rule is not told. */
		sim_release_snapshots(s);
	} else {
		err = store_create_family(s->store, table, &spec);
		want = naive_create_family(&s->naive, table, name, gc);
	}
	gc_policy_free(gc);
	sim_want(s, set ? "set gc" : "create family", err, want);
	return err;
}

void sim_schema_op(struct sim *s)
{
	uint32_t kind = rng_below(&s->rng, 20);
	struct bytes table = sim_draw_table(s), name = sim_draw_family(s);
	struct bytes to = sim_draw_table(s);
	int err, want;

	sim_log(s, "schema %u of table %.*s, family %.*s", kind,
		(int)table.size, table.data, (int)name.size, name.data);
	if (kind < 7) {
		err = create_table(s, table);
	} else if (kind < 8) {
		err = drop_table(s, table);
	} else if (kind < 9) {
		err = store_rename_table(s->store, table, to);
		want = naive_rename_table(&s->naive, table, to);
		sim_want(s, "rename table", err, want);
	} else if (kind < 11) {
		err = store_drop_family(s->store, table, name);
		want = naive_drop_family(&s->naive, table, name);
		sim_want(s, "drop family", err, want);
	} else {
		err = create_family(s, table, name, kind >= 16);
	}
	if (!err)
		s->states.count = 0; /* a schema change is durable */
}
