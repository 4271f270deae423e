#include <stdio.h>

#include "store/base/err.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
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
	uint32_t n = s->first_row;

	if (!s->counter)
		n += rng_below(&s->rng, s->row_count);
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

	return bytes_string(names[s->counter ? 0 : rng_below(&s->rng, 4)]);
}

struct bytes sim_draw_qualifier(struct sim *s)
{
	switch (s->counter ? 7 : rng_below(&s->rng, 8)) {
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

static uint64_t draw_timestamp(struct sim *s, bool millis)
{
	uint64_t t;

	if (s->counter)
		return 5000;
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

static enum sim_mutation_kind draw_kind(struct sim *s)
{
	uint32_t n;

	if (s->counter && !rng_one_in(&s->rng, 6))
		return ADD;
	if (!s->counter && rng_below(&s->rng, 100) < s->set_percent)
		return s->imports || rng_below(&s->rng, 3) ? SET : ADD;
	n = rng_below(&s->rng, 28);
	return n < 14   ? DELETE_CELLS
	       : n < 19 ? DELETE_COLUMN
	       : n < 23 ? DELETE_FAMILY
	       : n < 27 ? DELETE_ROW
			: DELETE_PREFIX;
}

/* Just one version, as one that is there has it, of whatever row: mostly. */
static bool aim(struct sim *s, const struct naive_table *t,
		struct naive_match *d)
{
	const struct naive *n = &s->naive;
	unsigned int tries;

	for (tries = 0; t && n->count > 0 && tries < 20; tries++) {
		const struct naive_cell *c =
			&n->cells[rng_below(&s->rng, (uint32_t)n->count)];

		if (c->table != t->id || c->dead_seq != UINT64_MAX ||
		    (t->millis && c->timestamp_us % 1000 > 0))
			continue;
		d->family = c->family;
		d->qualifier = c->qualifier;
		d->from_us = c->timestamp_us;
		d->to_us = d->from_us + 1;
		return rng_below(&s->rng, 3) > 0;
	}
	return false;
}

static void draw_match(struct sim *s, const struct naive_table *t,
		       struct sim_mutation *m)
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
	d->has_qualifier = m->kind == SET || m->kind == ADD ||
			   m->kind == DELETE_CELLS || m->kind == DELETE_COLUMN;
	if (d->has_family)
		d->family = sim_draw_family(s);
	if (d->has_qualifier)
		d->qualifier = sim_draw_qualifier(s);
	if (m->kind != DELETE_CELLS || aim(s, t, d))
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
		      struct sim_mutation *m, uint64_t *timestamp)
{
	struct naive_cell *c = &m->cell;

	m->number = rng_below(&s->rng, 64);
	if (m->kind == ADD && rng_one_in(&s->rng, 3)) {
		m->times = 1 + rng_below(&s->rng, SIM_TIMES);
		m->at_once = rng_one_in(&s->rng, 3);
	}
	c->value_id = ++s->last_value;
	c->value_size = rng_below(&s->rng, 1 << rng_below(&s->rng, 9));
	/* In few rows, large enough that files are cut within columns. */
	if (rng_one_in(&s->rng, s->row_count < 10 ? 10 : 60))
		c->value_size = rng_below(&s->rng, 100000);
	*timestamp = draw_timestamp(s, t && t->millis);
	c->timestamp_us = *timestamp;
	if (rng_one_in(&s->rng, 4)) {
		*timestamp = STORE_NOW;
		m->is_now = true;
		m->millis = t && t->millis;
	}
	c->row = m->match.row;
	c->family = m->match.family;
	c->qualifier = m->match.qualifier;
}

static int64_t added_number(const struct sim_mutation *m)
{
	if (m->cell.aggregate == AGGREGATE_HLL)
		return m->number;
	return m->number == 63 ? INT64_MAX : (int64_t)m->number - 31;
}

/* So often that a memtable joins what is added. */
static int add_times(struct write *w, const struct sim_mutation *m,
		     uint64_t timestamp)
{
	const struct naive_match *d = &m->match;
	int64_t numbers[SIM_TIMES];
	uint32_t i;
	int err = 0;

	for (i = 0; i < m->times; i++)
		numbers[i] = added_number(m);
	if (m->at_once)
		return write_add_all(w, d->family, d->qualifier, timestamp,
				     numbers, m->times);
	for (i = 0; i < m->times && !err; i++)
		err = write_add(w, d->family, d->qualifier, timestamp,
				numbers[i]);
	return err;
}

static int add_to_write(struct sim *s, struct write *w, struct bytes table,
			const struct sim_mutation *m, uint64_t timestamp)
{
	const struct naive_match *d = &m->match;
	struct buf value = BUF_INIT;
	int err;

	switch (m->kind) {
	case SET:
		err = naive_value(&m->cell, &value);
		if (!err)
			err = write_set(w, d->family, d->qualifier, timestamp,
					buf_bytes(&value));
		buf_release(&value);
		return err;
	case ADD:
		return add_times(w, m, timestamp);
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
		return d->prefix.size > 0
			       ? write_delete_prefix(w, table, d->prefix)
			       : write_delete_range(w, table, BYTES_NONE,
						    BYTES_NONE);
	}
	(void)s;
	return -EINVAL;
}

static enum aggregate_kind aggregate_kind(const struct naive_family *f)
{
	const struct family family = { .type = f->type };

	return family_aggregate(&family);
}

/* Whether a family of the same name takes what was collected for another. */
static bool takes(const struct naive_family *f, const struct sim_mutation *m)
{
	enum aggregate_kind now = aggregate_kind(f), then = m->cell.aggregate;

	return !now == !then &&
	       (now == AGGREGATE_HLL) == (then == AGGREGATE_HLL);
}

/* What adding m has to return. */
static int expected(struct naive_table *t, const struct sim_mutation *m,
		    struct naive_family **family)
{
	const struct naive_match *d = &m->match;

	if (m->kind == DELETE_CELLS && d->to_us > 0 && d->from_us >= d->to_us)
		return -ERR_bad_timestamp;
	*family = d->has_family ? naive_family(t, d->family) : NULL;
	if (d->has_family && !*family)
		return -ERR_no_family;
	if (m->kind > ADD || (aggregate_kind(*family) != 0) == (m->kind == ADD))
		return 0;
	return -ERR_type_mismatch;
}

/* Draws one mutation, adds it to w, and keeps it in m if it was taken: 1. */
static int draw_mutation(struct sim *s, struct write *w, struct naive_table *t,
			 struct bytes row, struct sim_mutation *m)
{
	struct naive_family *family = NULL;
	uint64_t timestamp = 0;
	int want;

	*m = (struct sim_mutation){ .kind = draw_kind(s), .times = 1 };
	m->match.table = t->id;
	draw_match(s, t, m);
	if (m->match.has_row)
		m->match.row = row;
	if (m->kind <= ADD)
		draw_cell(s, t, m, &timestamp);
	want = expected(t, m, &family);
	if (m->kind == ADD && family)
		m->cell.aggregate = aggregate_kind(family);
	sim_log(s,
		" %s %.*s row \"%.*s\" %.*s:%.*s ts %llu from %llu to %llu: "
		"value %u of %u, %u times",
		(const char *const[]){ "set", "add", "delete cells",
				       "delete column", "delete family",
				       "delete row", "delete prefix" }[m->kind],
		(int)t->name.size, t->name.data,
		(int)(m->match.has_row ? row : m->match.prefix).size,
		(m->match.has_row ? row : m->match.prefix).data,
		(int)m->match.family.size, m->match.family.data,
		(int)m->match.qualifier.size, m->match.qualifier.data,
		(unsigned long long)m->cell.timestamp_us,
		(unsigned long long)m->match.from_us,
		(unsigned long long)m->match.to_us, m->cell.value_id,
		m->cell.value_size, m->times);
	sim_want(s, "add to write", add_to_write(s, w, t->name, m, timestamp),
		 want);
	if (want < 0)
		return 0;
	m->cell.table = t->id;
	/* The prefix deletion ended the row. */
	if (m->kind == DELETE_PREFIX)
		sim_want(s, "row again", write_row(w, t->name, row), 0);
	return 1;
}

/* Draws mutations into p->w, which is of table t. */
static void collect(struct sim *s, struct sim_write *p, struct naive_table *t)
{
	uint32_t count = 1 + rng_below(&s->rng, SIM_MUTATIONS - 2), i;
	struct bytes row;
	struct write_mark mark;
	size_t records;

	/* One cell is added to and deleted again and again. */
	s->counter = !s->imports && rng_one_in(&s->rng, 4);
	row = sim_draw_row(s);
	p->count = 0;
	p->table = t->id;
	sim_want(s, "write_row", write_row(p->w, t->name, row), 0);
	for (i = 0; i < count; i++) {
		bool undo = rng_one_in(&s->rng, 15);

		if (i > 0 && rng_one_in(&s->rng, 4)) {
			row = sim_draw_row(s);
			sim_want(s, "write_row", write_row(p->w, t->name, row),
				 0);
		}
		mark = write_mark(p->w);
		p->count +=
			draw_mutation(s, p->w, t, row, &p->mutations[p->count]);
		if (undo && write_count(p->w) > 0) {
			if (write_mark(p->w).count > mark.count)
				p->count--;
			write_rewind(p->w, mark);
			sim_want(s, "write_row", write_row(p->w, t->name, row),
				 0);
		}
	}
	s->counter = false;
	for (i = 0, records = 0; i < p->count; i++)
		records += p->mutations[i].at_once ? 1 : p->mutations[i].times;
	if (write_count(p->w) != records)
		sim_fail(s, "write holds %zu, %zu were added",
			 write_count(p->w), records);
}

/* What the commit has to return now: tables and families may have gone since
 * the mutations were collected, or be others of the same name. */
static int resolve(struct sim *s, struct sim_write *p)
{
	struct naive_table *t = NULL;
	struct naive_family *f;
	size_t i;

	for (i = 0; i < s->naive.schema.table_count; i++)
		if (s->naive.schema.tables[i].id == p->table)
			t = &s->naive.schema.tables[i];
	if (!t)
		return p->count ? -ERR_no_table : 0;
	for (i = 0; i < p->count; i++) {
		struct sim_mutation *m = &p->mutations[i];

		if (m->kind > ADD)
			continue;
		f = naive_family(t, m->cell.family);
		if (!f)
			return -ERR_no_family;
		if (!takes(f, m))
			return -ERR_type_mismatch;
		m->millis = t->millis;
		if (!m->is_now && t->millis && m->cell.timestamp_us % 1000 > 0)
			return -ERR_bad_timestamp;
		m->cell.family_id = f->id;
		m->cell.aggregate = aggregate_kind(f);
		m->cell.number = m->cell.aggregate == AGGREGATE_HLL
					 ? (int64_t)(UINT64_C(1) << m->number)
					 : added_number(m);
		if (m->cell.aggregate == AGGREGATE_SUM)
			m->cell.number =
				(int64_t)((uint64_t)m->cell.number * m->times);
		if (m->is_now)
			m->cell.timestamp_us =
				s->gc_us - (m->millis ? s->gc_us % 1000 : 0);
	}
	return 0;
}

static void apply(struct sim *s, const struct sim_write *p)
{
	const struct sim_mutation *m;
	size_t i;
	int err = 0;

	for (i = 0; i < p->count && !err; i++) {
		struct naive_match column = p->mutations[i].match;

		if (p->mutations[i].kind != DELETE_CELLS ||
		    (column.from_us == 0 && column.to_us == 0))
			continue;
		column.from_us = column.to_us = 0;
		err = naive_bury(&s->naive, &column, s->gc_us);
	}
	for (i = 0; i < p->count && !err; i++) {
		m = &p->mutations[i];
		if (m->kind <= ADD)
			err = naive_put(&s->naive, &m->cell);
		else
			naive_delete(&s->naive, &m->match);
	}
	sim_want(s, "model", err, 0);
}

/* Publishes, if the disk is full before the end with a second try; durable. */
static void publish(struct sim *s, struct bulk_load *load, bool fill)
{
	int err = store_bulk_publish(load);
	bool full = false;

	volume_mem_fill_suffix(s->volume, NULL);
	if (fill)
		err = sim_empty(s, err, &full);
	else if (s->loads > 0 && err == -ENOSPC)
		full = true;
	if (full) {
		sim_log(s, "published again");
		err = store_bulk_publish(load);
	} else {
		s->counts.unmarked += s->loads > 0;
		if (s->loads > 0 && rng_one_in(&s->rng, 4))
			sim_arm_crash(s);
	}
	sim_want(s, "publish", err, 0);
}

/* Puts w into the store by a bulk load of its own, which is durable: 1, or what
 * store_bulk_add returns; -ENOSPC if the disk was full meanwhile, and then
 * nothing of it is there. */
static int bulk_load(struct sim *s, struct write *w)
{
	bool fill = s->loads == 0 && rng_one_in(&s->rng, 4), full = false;
	struct bulk_load *load;
	int err;

	sim_want(s, "bulk load", store_bulk_begin(s->store, &load), 0);
	if (fill)
		sim_fill(s);
	err = store_bulk_add(load, w);
	if (fill && rng_one_in(&s->rng, 2) && err != -ENOSPC)
		volume_mem_fill(s->volume, 0, 0);
	if (err == -ENOSPC && fill)
		sim_empty(s, err, &full);
	if (full && store_bulk_publish(load) >= 0)
		sim_fail(s, "a part of a load is published");
	if (err == 1 && !fill && rng_one_in(&s->rng, 2))
		sim_background_op(s);
	if (err == 1 && s->loads > 0)
		volume_mem_fill_suffix(s->volume, ".log");
	if (err == 1)
		publish(s, load, fill);
	volume_mem_fill(s->volume, 0, 0);
	store_bulk_free(load);
	return err;
}

/* Some loads come one after another on a disk that has no room for the log. */
static void begin_loads(struct sim *s)
{
	s->loads = 3 + rng_below(&s->rng, 3);
	/* They need none if they lie over no memtable. */
	sim_want(s, "flush", engine_flush(store_engine(s->store)), 0);
}

static bool draw_load(struct sim *s, const struct sim_write *p)
{
	if (s->loads > 0)
		s->loads--;
	else if (!s->lazy && rng_one_in(&s->rng, 40))
		begin_loads(s);
	return p->count > 0 && (s->imports || s->loads > 0 ||
				rng_one_in(&s->rng, s->lazy ? 80 : 8));
}

/* Commits p->w and ends it. */
static void commit(struct sim *s, struct sim_write *p)
{
	bool sync = rng_one_in(&s->rng, 12);
	int want = resolve(s, p), err = 0;

	if (draw_load(s, p)) {
		sim_log(s, "bulk load");
		err = bulk_load(s, p->w);
		if (err == 1)
			sync = true;
	}
	if (err == 0) {
		sim_log(s, "commit%s", sync ? ", sync" : "");
		err = store_commit(s->store, p->w, sync);
	}
	if (err == 1)
		err = 0;
	write_free(p->w);
	p->w = NULL;
	if (err == -ENOSPC)
		return;
	sim_want(s, "commit", err, want);
	if (err < 0)
		return;
	apply(s, p);
	if (sync)
		s->states.count = 0; /* sim_step adds what is there now */
}

static int decide(void *context, struct write *w)
{
	struct sim *s = context;
	struct sim_write *p = &s->update;
	struct naive_table *t = naive_table(&s->naive, sim_draw_table(s));

	sim_get(s);
	p->w = w;
	p->count = 0;
	if (t)
		collect(s, p, t);
	return rng_one_in(&s->rng, 4) ? -ECANCELED : 0;
}

static void update_op(struct sim *s)
{
	int err;

	sim_log(s, "read, modify, write");
	err = store_update(s->store, decide, s, false);
	s->update.w = NULL;
	if (err == -ECANCELED)
		return;
	sim_want(s, "update", err, resolve(s, &s->update));
	apply(s, &s->update);
}

/* A write that is committed at once, or left for later operations. */
void sim_write_op(struct sim *s)
{
	struct bytes name = sim_draw_table(s);
	struct naive_table *t = naive_table(&s->naive, name);
	struct sim_write *p = &s->pending[rng_below(&s->rng, SIM_PENDING)];

	s->counts.writes++;
	if (rng_one_in(&s->rng, 10) && s->loads == 0) {
		update_op(s);
		return;
	}
	if (p->w && rng_one_in(&s->rng, 3)) {
		commit(s, p);
		return;
	}
	if (p->w)
		p = &s->update;
	sim_want(s, "write_new", write_new(s->store, &p->w), 0);
	if (!t) {
		sim_want(s, "row of no table",
			 write_row(p->w, name, sim_draw_row(s)), -ERR_no_table);
		write_free(p->w);
		p->w = NULL;
		return;
	}
	collect(s, p, t);
	if (p == &s->update || !rng_one_in(&s->rng, 10))
		commit(s, p);
}

void sim_drop_pending(struct sim *s)
{
	size_t i;

	for (i = 0; i < SIM_PENDING; i++) {
		write_free(s->pending[i].w);
		s->pending[i].w = NULL;
	}
}
