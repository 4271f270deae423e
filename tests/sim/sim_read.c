#include <stdio.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/read/rest.h"
#include "store/model/model.h"
#include "tests/sim/sim.h"

static bool in_range(const struct scan_range *r, const struct naive_cell *c)
{
	if (r->row.size > 0)
		return bytes_equal(c->row, r->row) &&
		       (!r->has_family || bytes_equal(c->family, r->family)) &&
		       (!r->has_family || !r->has_qualifier ||
			bytes_equal(c->qualifier, r->qualifier));
	return bytes_compare(c->row, r->start) >= 0 &&
	       (r->end.size == 0 || bytes_compare(c->row, r->end) < 0);
}

/* Rows in descending order; in each, the cells as they were. */
static void reverse_rows(struct naive_cell *cells, size_t count)
{
	struct naive_cell *copy = malloc((count + 1) * sizeof(*copy));
	size_t start, end = count, at = 0;

	if (!copy)
		abort();
	while (end > 0) {
		for (start = end - 1;
		     start > 0 &&
		     bytes_equal(cells[start - 1].row, cells[end - 1].row);)
			start--;
		memcpy(copy + at, cells + start,
		       (end - start) * sizeof(*cells));
		at += end - start;
		end = start;
	}
	memcpy(cells, copy, count * sizeof(*cells));
	free(copy);
}

/* What a name that is t's now stands for in a snapshot: t as it was then, or
 * what had its name, or nothing. */
static struct naive_table table_then(const struct naive_schema *then,
				     const struct naive_table *t)
{
	struct naive_table none = *t;
	size_t i;

	for (i = 0; i < then->table_count; i++)
		if (then->tables[i].id == t->id)
			return then->tables[i];
	for (i = 0; i < then->table_count; i++)
		if (bytes_equal(then->tables[i].name, t->name))
			return then->tables[i];
	none.family_count = 0;
	return none;
}

/* What a reader has to see of t, of snapshot or, if that is NULL, of now. */
static void view_of(struct sim *s, const struct naive_table *t,
		    const struct sim_snapshot *snapshot, struct naive_view *out)
{
	struct naive_table seen =
		snapshot ? table_then(&snapshot->schema, t) : *t;

	sim_want(s, "view",
		 naive_view(&s->naive, &seen,
			    snapshot ? snapshot->seq : s->naive.seq,
			    snapshot ? snapshot->now_us : s->gc_us, out),
		 0);
}

/* Opens a scan and works out what it has to give. */
static void open_scan(struct sim *s, const struct naive_table *t,
		      const struct scan_range *range,
		      const struct sim_snapshot *snapshot, struct sim_scan *c)
{
	struct naive_view view;
	size_t i;

	*c = (struct sim_scan){ .range = *range, .snapshot = snapshot };
	view_of(s, t, snapshot, &view);
	c->cells = malloc((view.count + 1) * sizeof(*c->cells));
	if (!c->cells)
		abort();
	for (i = 0; i < view.count; i++)
		if (in_range(range, view.items[i]))
			c->cells[c->count++] = *view.items[i];
	free(view.items);
	if (range->reverse)
		reverse_rows(c->cells, c->count);
	if (!snapshot && rng_one_in(&s->rng, 2))
		sim_want(s, "snapshot", store_snapshot(s->store, &c->own), 0);
	sim_want(s, "scan_open",
		 scan_open(s->store, snapshot ? snapshot->snapshot : c->own,
			   range, &c->scan),
		 0);
}

static void close_scan(struct sim *s, struct sim_scan *c)
{
	scan_close(c->scan);
	store_snapshot_release(s->store, c->own);
	free(c->cells);
	*c = (struct sim_scan){ 0 };
}

static const char *text(struct bytes b)
{
	static char out[8][200];
	static unsigned int turn;
	char *to = out[turn++ % 8];
	size_t i, n = 0;

	for (i = 0; i < b.size && n < 180; i++)
		n += (size_t)snprintf(
			to + n, 200 - n,
			b.data[i] > 32 && b.data[i] < 127 ? "%c" : "\\x%02x",
			b.data[i]);
	to[n] = 0;
	return to;
}

static void check_cell(struct sim *s, const char *what, const struct cell *got,
		       const struct naive_cell *want)
{
	struct buf value = BUF_INIT;
	bool same;

	if (!bytes_equal(got->row, want->row) ||
	    !bytes_equal(got->family, want->family) ||
	    !bytes_equal(got->qualifier, want->qualifier) ||
	    got->timestamp_us != want->timestamp_us)
		sim_fail(s, "%s: got %s %s:%s@%llu, wanted %s %s:%s@%llu", what,
			 text(got->row), text(got->family),
			 text(got->qualifier),
			 (unsigned long long)got->timestamp_us, text(want->row),
			 text(want->family), text(want->qualifier),
			 (unsigned long long)want->timestamp_us);
	if (naive_value(want, &value) < 0)
		abort();
	same = bytes_equal(got->value, buf_bytes(&value));
	buf_release(&value);
	if (!same)
		sim_fail(s,
			 "%s: %s %s:%s@%llu: value of %zu bytes is not number "
			 "%u of %u bytes, or aggregate %lld",
			 what, text(got->row), text(got->family),
			 text(got->qualifier),
			 (unsigned long long)got->timestamp_us, got->value.size,
			 want->value_id, want->value_size,
			 (long long)want->number);
}

static void check_at(struct sim *s, struct sim_scan *c, const char *what,
		     int got, const struct cell *cell)
{
	if (got < 0)
		sim_want(s, what, got, 0);
	if (got == 0 && c->at < c->count)
		sim_fail(s, "%s: the end, wanted %s %s:%s@%llu", what,
			 text(c->cells[c->at].row),
			 text(c->cells[c->at].family),
			 text(c->cells[c->at].qualifier),
			 (unsigned long long)c->cells[c->at].timestamp_us);
	if (got == 1 && c->at >= c->count)
		sim_fail(s, "%s: got %s %s:%s@%llu, wanted the end", what,
			 text(cell->row), text(cell->family),
			 text(cell->qualifier),
			 (unsigned long long)cell->timestamp_us);
	s->counts.cells += got == 1;
	if (got == 1 && !c->range.rows_only)
		check_cell(s, what, cell, &c->cells[c->at]);
	else if (got == 1 && !bytes_equal(cell->row, c->cells[c->at].row))
		sim_fail(s, "%s of rows: got %s, wanted %s", what,
			 text(cell->row), text(c->cells[c->at].row));
}

static bool stepped(const struct naive_cell *from, const struct naive_cell *to,
		    enum cursor_step step)
{
	bool row = bytes_equal(from->row, to->row);
	bool family = row && bytes_equal(from->family, to->family);
	bool column = family && bytes_equal(from->qualifier, to->qualifier);

	return step == CURSOR_VERSION || !row ||
	       (step == CURSOR_FAMILY && !family) ||
	       (step == CURSOR_COLUMN && !column);
}

static void scan_step(struct sim *s, struct sim_scan *c, enum cursor_step step)
{
	const char *what = c->range.reverse ? "reverse scan" : "scan";
	size_t at = c->at;
	struct cell cell;
	int got;

	if (!c->started) {
		c->started = true;
	} else if (c->range.reverse && step != CURSOR_ROW) {
		/* Only a step of rows leaves the row. */
		while (++at < c->count &&
		       !stepped(&c->cells[c->at], &c->cells[at], step))
			;
		got = scan_next(c->scan, step, &cell);
		if (c->at >= c->count || c->row_ended || at >= c->count ||
		    !bytes_equal(c->cells[at].row, c->cells[c->at].row)) {
			c->row_ended = true;
			sim_want(s, "end of row in a reverse scan", got, 0);
			return;
		}
		c->at = at;
		check_at(s, c, what, got, &cell);
		return;
	} else {
		while (at < c->count && ++at < c->count &&
		       !stepped(&c->cells[c->at], &c->cells[at], step))
			;
		c->at = at;
	}
	c->row_ended = false;
	got = scan_next(c->scan, step, &cell);
	check_at(s, c, what, got, &cell);
}

static void scan_seek_op(struct sim *s, struct sim_scan *c)
{
	struct bytes row = sim_draw_row(s);
	struct cell cell;
	int got;

	for (c->at = 0; c->at < c->count; c->at++) {
		int order = bytes_compare(c->cells[c->at].row, row);

		if (c->range.reverse ? order <= 0 : order >= 0)
			break;
	}
	c->started = true;
	c->row_ended = false;
	sim_log(s, "seek %s", text(row));
	got = scan_seek(c->scan, row, &cell);
	check_at(s, c, "seek", got, &cell);
}

static void draw_range(struct sim *s, struct scan_range *r)
{
	struct bytes a = sim_draw_row(s), b = sim_draw_row(s);

	*r = (struct scan_range){ .table = sim_draw_table(s) };
	r->reverse = rng_one_in(&s->rng, 3);
	r->rows_only = rng_one_in(&s->rng, 3);
	switch (rng_below(&s->rng, 4)) {
	case 0:
		r->row = a;
		r->has_family = rng_one_in(&s->rng, 2);
		r->family = sim_draw_family(s);
		r->has_qualifier = r->has_family && rng_one_in(&s->rng, 2);
		r->qualifier = sim_draw_qualifier(s);
		break;
	case 1:
		if (bytes_compare(a, b) < 0) {
			r->start = a;
			r->end = b;
		} else {
			r->start = b;
			r->end = a;
		}
		break;
	case 2:
		r->start = a;
		break;
	default:
		break;
	}
}

static const struct sim_snapshot *draw_snapshot(struct sim *s)
{
	uint32_t n = rng_below(&s->rng, SIM_SNAPSHOTS * 2);

	return n < SIM_SNAPSHOTS && s->snapshots[n].snapshot ? &s->snapshots[n]
							     : NULL;
}

/* The scan goes on with its next step, maybe of other sources. */
static void rest_op(struct sim *s, struct sim_scan *c)
{
	bool end = rng_one_in(&s->rng, 2);

	if (c->restless)
		return;
	sim_log(s, "rest%s", end ? ", as if there was a flush" : "");
	scan_rest(c->scan);
	c->rested = true;
	if (end)
		engine_end_rests(store_engine(s->store));
}

static void scan_op(struct sim *s)
{
	struct sim_scan *c = &s->scans[rng_below(&s->rng, SIM_SCANS)];
	const struct sim_snapshot *snapshot;
	uint32_t steps = 1 + rng_below(&s->rng, 60);
	enum cursor_step step = rng_below(&s->rng, 4);
	const struct naive_table *t;
	struct scan_range range;

	if (!c->scan || rng_one_in(&s->rng, 2)) {
		if (c->scan)
			close_scan(s, c);
		draw_range(s, &range);
		t = naive_table(&s->naive, range.table);
		if (!t)
			return;
		snapshot = draw_snapshot(s);
		sim_log(s,
			"scan%s%s%s of %s: [%s, %s), row %s family %s "
			"qualifier %s",
			range.rows_only ? " of rows" : "",
			range.reverse ? " backward" : "",
			snapshot ? " of a snapshot" : "", text(range.table),
			text(range.start), text(range.end), text(range.row),
			range.has_family ? text(range.family) : "*",
			range.has_qualifier ? text(range.qualifier) : "*");
		open_scan(s, t, &range, snapshot, c);
	}
	if (c->range.rows_only)
		step = CURSOR_ROW;
	while (steps-- > 0) {
		if (rng_one_in(&s->rng, 20))
			scan_seek_op(s, c);
		else if (!c->range.rows_only && rng_one_in(&s->rng, 4))
			scan_step(s, c, rng_below(&s->rng, 4));
		else
			scan_step(s, c, step);
		if (c->at >= c->count)
			break;
		if (rng_one_in(&s->rng, 3))
			rest_op(s, c);
	}
	if (c->at >= c->count)
		close_scan(s, c);
	else if (rng_one_in(&s->rng, 2))
		rest_op(s, c);
}

/* What has rested may leave out what was dropped, and so may what rests from
 * now on. */
void sim_close_rested(struct sim *s)
{
	size_t i;

	for (i = 0; i < SIM_SCANS; i++) {
		if (s->scans[i].rested)
			close_scan(s, &s->scans[i]);
		s->scans[i].restless = true;
	}
}

void sim_get(struct sim *s)
{
	struct bytes name = sim_draw_table(s);
	const struct naive_table *t = naive_table(&s->naive, name);
	const struct sim_snapshot *snapshot = draw_snapshot(s);
	const struct naive_cell *want = NULL;
	struct scan_range range = { .has_family = true, .has_qualifier = true };
	struct buf memory = BUF_INIT;
	struct naive_view view;
	struct cell cell;
	size_t i;
	int got;

	range.row = sim_draw_row(s);
	range.family = sim_draw_family(s);
	range.qualifier = sim_draw_qualifier(s);
	if (!t)
		return;
	sim_log(s, "get%s %s %s %s:%s", snapshot ? " from a snapshot" : "",
		text(name), text(range.row), text(range.family),
		text(range.qualifier));
	view_of(s, t, snapshot, &view);
	for (i = 0; i < view.count && !want; i++)
		if (in_range(&range, view.items[i]))
			want = view.items[i];
	got = store_get(s->store, snapshot ? snapshot->snapshot : NULL, name,
			range.row, range.family, range.qualifier, &cell,
			&memory);
	if (got == 1 && want)
		check_cell(s, "get", &cell, want);
	buf_release(&memory);
	free(view.items);
	sim_want(s, "get", got, want ? 1 : 0);
}

static void exists_op(struct sim *s)
{
	struct bytes name = sim_draw_table(s), row = sim_draw_row(s);
	const struct naive_table *t = naive_table(&s->naive, name);
	struct naive_view view;
	int want = 0;
	size_t i;

	if (!t)
		return;
	view_of(s, t, NULL, &view);
	for (i = 0; i < view.count; i++)
		if (bytes_equal(view.items[i]->row, row))
			want = 1;
	free(view.items);
	sim_want(s, "row exists", store_row_exists(s->store, name, row), want);
}

void sim_read_op(struct sim *s)
{
	uint32_t kind = rng_below(&s->rng, 10);

	s->counts.reads++;
	if (kind < 6)
		scan_op(s);
	else if (kind < 9)
		sim_get(s);
	else
		exists_op(s);
}

static void release_snapshot(struct sim *s, struct sim_snapshot *n)
{
	size_t i;

	if (!n->snapshot)
		return;
	for (i = 0; i < SIM_SCANS; i++)
		if (s->scans[i].snapshot == n && s->scans[i].scan)
			close_scan(s, &s->scans[i]);
	store_snapshot_release(s->store, n->snapshot);
	naive_schema_release(&n->schema);
	n->snapshot = NULL;
}

void sim_snapshot_op(struct sim *s)
{
	struct sim_snapshot *n =
		&s->snapshots[rng_below(&s->rng, SIM_SNAPSHOTS)];

	if (n->snapshot) {
		sim_log(s, "release snapshot");
		release_snapshot(s, n);
		return;
	}
	sim_log(s, "snapshot");
	sim_want(s, "snapshot", store_snapshot(s->store, &n->snapshot), 0);
	n->seq = s->naive.seq;
	n->now_us = s->gc_us;
	if (naive_schema_copy(&s->naive.schema, &n->schema) < 0)
		abort();
}

void sim_close_scans(struct sim *s)
{
	size_t i;

	for (i = 0; i < SIM_SCANS; i++)
		if (s->scans[i].scan)
			close_scan(s, &s->scans[i]);
}

void sim_release_snapshots(struct sim *s)
{
	size_t i;

	for (i = 0; i < SIM_SNAPSHOTS; i++)
		release_snapshot(s, &s->snapshots[i]);
}

void sim_compare_table(struct sim *s, const struct naive_table *t)
{
	struct scan_range range = { .table = t->name };
	struct sim_scan c;

	range.rows_only = true;
	open_scan(s, t, &range, NULL, &c);
	do {
		scan_step(s, &c, CURSOR_ROW);
	} while (c.at < c.count);
	close_scan(s, &c);
	range.rows_only = false;
	range.reverse = rng_one_in(&s->rng, 4);
	open_scan(s, t, &range, NULL, &c);
	/* A backward scan leaves its rows only by steps of rows. */
	do {
		scan_step(s, &c, CURSOR_VERSION);
		if (c.row_ended)
			scan_step(s, &c, CURSOR_ROW);
	} while (c.at < c.count);
	close_scan(s, &c);
}
