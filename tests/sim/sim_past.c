#include <stdlib.h>

#include "store/engine/core/history.h"
#include "store/engine/core/state.h"
#include "store/model/model.h"
#include "tests/sim/sim_past.h"

#define SECOND UINT64_C(1000000)

void sim_past_begin(struct sim *s)
{
	const uint64_t windows[] = { 60, 600, 3600, 86400 };
	uint64_t seconds = windows[rng_below(&s->rng, 4)];
	/* Mostly so much that nothing is given up. */
	uint64_t size = rng_one_in(&s->rng, 4) ? 5000u << rng_below(&s->rng, 8)
					       : 1u << 30;

	sim_log(s, "history of %llu s in %llu bytes",
		(unsigned long long)seconds, (unsigned long long)size);
	sim_want(s, "keep history",
		 store_set_history(s->store, seconds * SECOND, size), 0);
}

void sim_past_note(struct sim *s)
{
	struct sim_past *p = s->past;
	uint64_t seq = store_seq(s->store);
	uint64_t gc_us = atomic_load(&store_engine(s->store)->gc_time_us);
	struct sim_past_state *state;

	/* A crash may set it back, but brings no moment back that has gone. */
	if (gc_us > p->latest_us)
		p->latest_us = gc_us;
	/* A change that changes nothing may have no sequence. */
	if (p->count > 0 && p->states[p->count - 1].engine_seq == seq) {
		p->states[p->count - 1].naive_seq = s->naive.seq;
		return;
	}
	if (p->count == p->capacity) {
		p->capacity = p->capacity * 2 + 64;
		p->states =
			realloc(p->states, p->capacity * sizeof(*p->states));
		if (!p->states)
			abort();
	}
	state = &p->states[p->count++];
	state->engine_seq = seq;
	state->naive_seq = s->naive.seq;
	/* Its own time does not go back when the clock does. */
	state->time_us = gc_us;
	state->is_behind = state->time_us > s->now_us;
	if (state->time_us < s->now_us)
		state->time_us = s->now_us;
	if (naive_schema_copy(&s->naive.schema, &state->schema) < 0)
		abort();
}

void sim_past_rewind(struct sim *s, uint64_t engine_seq)
{
	struct sim_past *p = s->past;

	while (p->count > 0 && p->states[p->count - 1].engine_seq > engine_seq)
		naive_schema_release(&p->states[--p->count].schema);
}

/* The state that is seen at a sequence; NULL if that is before the first. What
 * is buried before a policy is changed lies between two of them, and changes
 * nothing that is seen. */
static const struct sim_past_state *state_before(struct sim *s,
						 uint64_t engine_seq)
{
	struct sim_past *p = s->past;
	size_t i;

	for (i = p->count; i-- > 0;)
		if (p->states[i].engine_seq <= engine_seq)
			return &p->states[i];
	return NULL;
}

static const struct sim_past_state *state_at(struct sim *s, uint64_t engine_seq)
{
	const struct sim_past_state *state = state_before(s, engine_seq);

	if (!state)
		sim_fail(s, "moment of sequence %llu, which was no state",
			 (unsigned long long)engine_seq);
	return state;
}

static struct moments *moments_now(struct sim *s)
{
	struct engine *e = store_engine(s->store);

	return e->moments;
}

uint64_t sim_past_oldest(struct sim *s)
{
	struct sim_past *p = s->past;
	const struct manifest *m = store_engine(s->store)->manifest;
	uint64_t least = moments_first(moments_now(s)), seq;
	const struct sim_past_state *state;
	size_t i;

	/* A crash may bring back what the manifest has. */
	if (m->moment_count > 0 && m->moments[0].seq < least)
		least = m->moments[0].seq;
	for (i = 0; i < SIM_PAST_HELD; i++) {
		seq = p->held[i] ? store_snapshot_seq(p->held[i]) : least;
		least = seq < least ? seq : least;
	}
	state = state_before(s, least);
	if (!state && p->count > 0)
		state = &p->states[0];
	return state ? state->naive_seq : s->naive.seq;
}

static void compare_cell(struct sim *s, const struct naive_cell *want, int got,
			 const struct cell *cell, uint64_t seq)
{
	struct buf value = BUF_INIT;
	bool same;

	if (got == 0 && !want)
		return;
	if (got == 0)
		sim_fail(s, "moment %llu: lacks %.*s of model sequence %llu",
			 (unsigned long long)seq, (int)want->row.size,
			 want->row.data, (unsigned long long)want->seq);
	if (!want)
		sim_fail(s, "moment %llu: has %.*s of sequence %llu too many",
			 (unsigned long long)seq, (int)cell->row.size,
			 cell->row.data, (unsigned long long)cell->seq);
	if (naive_value(want, &value) < 0)
		abort();
	same = bytes_equal(cell->row, want->row) &&
	       bytes_equal(cell->family, want->family) &&
	       bytes_equal(cell->qualifier, want->qualifier) &&
	       cell->timestamp_us == want->timestamp_us &&
	       bytes_equal(cell->value, buf_bytes(&value));
	buf_release(&value);
	if (!same)
		sim_fail(s,
			 "moment %llu: got %.*s %.*s@%llu of sequence %llu, "
			 "wanted %.*s %.*s@%llu of model sequence %llu",
			 (unsigned long long)seq, (int)cell->row.size,
			 cell->row.data, (int)cell->family.size,
			 cell->family.data,
			 (unsigned long long)cell->timestamp_us,
			 (unsigned long long)cell->seq, (int)want->row.size,
			 want->row.data, (int)want->family.size,
			 want->family.data,
			 (unsigned long long)want->timestamp_us,
			 (unsigned long long)want->seq);
}

/* False if the moment has gone. */
static bool compare_cells(struct sim *s, const struct snapshot *moment,
			  const struct naive_view *view, uint32_t id)
{
	struct scan_range range = { .table_id = id };
	uint64_t seq = store_snapshot_seq(moment);
	struct scan *scan;
	struct cell cell;
	size_t i;
	int got = scan_open(s->store, moment, &range, &scan);

	if (got == -ERR_moment_gone)
		return false;
	sim_want(s, "scan of a moment", got, 0);
	for (i = 0; i <= view->count; i++) {
		got = scan_next(scan, CURSOR_VERSION, &cell);
		if (got == -ERR_moment_gone) {
			scan_close(scan);
			return false;
		}
		if (got < 0)
			sim_want(s, "step at a moment", got, 0);
		compare_cell(s, i < view->count ? view->items[i] : NULL, got,
			     &cell, seq);
		s->counts.cells++;
		if (rng_one_in(&s->rng, 16))
			scan_rest(scan);
	}
	scan_close(scan);
	return true;
}

/* Rows alone, and one column by a get. */
static bool compare_rows(struct sim *s, const struct snapshot *moment,
			 const struct naive_view *view, uint32_t id)
{
	struct scan_range range = { .table_id = id, .rows_only = true };
	struct scan *scan;
	struct cell cell;
	size_t i;
	int got = scan_open(s->store, moment, &range, &scan);

	if (got == -ERR_moment_gone)
		return false;
	sim_want(s, "scan of a moment's rows", got, 0);
	for (i = 0; i < view->count; i++) {
		if (i > 0 &&
		    bytes_equal(view->items[i]->row, view->items[i - 1]->row))
			continue;
		got = scan_next(scan, CURSOR_ROW, &cell);
		if (got != 1 || !bytes_equal(cell.row, view->items[i]->row))
			sim_fail(s, "moment %llu: rows: got %d, wanted %.*s",
				 (unsigned long long)store_snapshot_seq(moment),
				 got, (int)view->items[i]->row.size,
				 view->items[i]->row.data);
	}
	got = scan_next(scan, CURSOR_ROW, &cell);
	scan_close(scan);
	sim_want(s, "end of a moment's rows", got, 0);
	return true;
}

/* Of a table at a moment, what the schema says. */
static void compare_families(struct sim *s, const struct table *have,
			     const struct naive_table *want)
{
	size_t i;

	if (!have || have->family_count != want->family_count ||
	    have->millis != want->millis)
		sim_fail(s, "table %.*s of a moment is another one",
			 (int)want->name.size, want->name.data);
	for (i = 0; i < want->family_count; i++) {
		const struct naive_family *w = &want->families[i];
		const struct family *f = table_family(have, w->name);

		if (!f || f->type != w->type || !gc_policy_equal(f->gc, w->gc))
			sim_fail(s, "family %.*s of a moment is another one",
				 (int)w->name.size, w->name.data);
	}
}

/* False if the moment has gone. */
static bool compare_table(struct sim *s, const struct snapshot *moment,
			  const struct sim_past_state *state,
			  const struct schema *schema,
			  const struct naive_table *t)
{
	const struct table *have = schema_table(schema, t->name);
	struct naive_view view;
	bool is_there;

	compare_families(s, have, t);
	sim_want(s, "view",
		 naive_view(&s->naive, t, state->naive_seq,
			    store_moment_time(moment), &view),
		 0);
	is_there = compare_cells(s, moment, &view, have->id) &&
		   compare_rows(s, moment, &view, have->id);
	free(view.items);
	return is_there;
}

static void compare_moment(struct sim *s, const struct snapshot *moment)
{
	const struct sim_past_state *state =
		state_at(s, store_snapshot_seq(moment));
	struct schema *schema = store_schema_at(s->store, moment);
	bool is_there = true;
	size_t i;

	sim_log(s, "at the moment %llu of %llu",
		(unsigned long long)store_snapshot_seq(moment),
		(unsigned long long)store_moment_time(moment));
	if (schema->table_count != state->schema.table_count)
		sim_fail(s, "%zu tables at a moment, not %zu",
			 schema->table_count, state->schema.table_count);
	for (i = 0; i < state->schema.table_count && is_there; i++)
		is_there = compare_table(s, moment, state, schema,
					 &state->schema.tables[i]);
	schema_put(schema);
	s->past->checked++;
	s->past->gone += !is_there;
}

/* The i-th of those that there are. */
static struct snapshot *open_moment(struct sim *s, size_t i)
{
	const struct moment *at = &moments_now(s)->items[i];
	struct snapshot *moment;
	uint64_t seq = at->seq;

	sim_want(s, "moment", store_moment(s->store, at->time_us, &moment), 0);
	if (store_snapshot_seq(moment) != seq)
		sim_fail(s, "moment of sequence %llu, not %llu",
			 (unsigned long long)store_snapshot_seq(moment),
			 (unsigned long long)seq);
	return moment;
}

/* Before the first moment there is none. */
static void try_too_old(struct sim *s)
{
	struct moments *m = moments_now(s);
	struct snapshot *moment;

	if (m->count > 0)
		sim_want(s, "moment before all",
			 store_moment(s->store, m->items[0].time_us - 1,
				      &moment),
			 -ERR_no_moment);
}

/* Until then nothing came after the moment, or it says so in vain. */
static void try_quiet(struct sim *s, const struct moment *at)
{
	const struct sim_past_state *next = s->past->states;
	const struct sim_past_state *end = next + s->past->count;
	uint64_t seq = at->seq, until_us = at->until_us;
	struct snapshot *moment;

	while (next < end && next->engine_seq <= seq)
		next++;
	if (next < end && next->time_us < until_us)
		sim_fail(s, "quiet until %llu, but state %llu was at %llu",
			 (unsigned long long)until_us,
			 (unsigned long long)next->engine_seq,
			 (unsigned long long)next->time_us);
	sim_want(s, "moment before a gap",
		 store_moment(s->store, until_us, &moment), 0);
	if (store_snapshot_seq(moment) != seq)
		sim_fail(s, "moment of sequence %llu before a gap, not %llu",
			 (unsigned long long)store_snapshot_seq(moment),
			 (unsigned long long)seq);
	store_snapshot_release(s->store, moment);
}

/* Nor is there within a gap, which begins when the store last was quiet. */
static void try_gaps(struct sim *s)
{
	struct moments *m = moments_now(s);
	struct snapshot *moment;
	size_t i;

	for (i = m->outlived + 1; i < m->count; i++) {
		const struct moment *last = &m->items[i - 1];
		uint64_t start_us = last->until_us > last->time_us
					    ? last->until_us
					    : last->time_us;

		if (!(m->items[i].flags & MOMENT_AFTER_GAP))
			continue;
		if (m->items[i].time_us - 1 > start_us)
			sim_want(s, "moment in a gap",
				 store_moment(s->store, m->items[i].time_us - 1,
					      &moment),
				 -ERR_no_moment);
		if (start_us > last->time_us && start_us < m->items[i].time_us)
			try_quiet(s, last);
	}
}

/* At the second of one of the last ten minutes' states, by the time that does
 * not go back, there is what was there when it began, if anything is known and
 * the clock did tell. */
static void try_second(struct sim *s)
{
	const struct sim_past_state *next = s->past->states;
	const struct sim_past_state *end = next + s->past->count;
	struct moments *m = moments_now(s);
	struct snapshot *moment;
	uint64_t seq, time_us;

	if (s->past->count == 0)
		return;
	time_us = next[rng_below(&s->rng, (uint32_t)s->past->count)].time_us;
	time_us -= time_us % SECOND;
	while (next < end && next->time_us < time_us)
		next++;
	if (next->is_behind || time_us + 600 * SECOND <= s->past->latest_us ||
	    m->count == 0 || time_us < m->items[0].time_us ||
	    store_moment(s->store, time_us, &moment) < 0)
		return;
	seq = store_snapshot_seq(moment);
	store_snapshot_release(s->store, moment);
	next = s->past->states;
	while (next < end && next->engine_seq <= seq)
		next++;
	if ((next > s->past->states && next[-1].time_us > time_us) ||
	    (next < end && next->time_us < time_us))
		sim_fail(s,
			 "at %llu the moment of sequence %llu, of %llu; the "
			 "next state was at %llu",
			 (unsigned long long)time_us, (unsigned long long)seq,
			 next > s->past->states
				 ? (unsigned long long)next[-1].time_us
				 : 0,
			 next < end ? (unsigned long long)next->time_us : 0);
	s->past->seconds++;
}

void sim_past_op(struct sim *s)
{
	struct sim_past *p = s->past;
	struct snapshot **held = &p->held[rng_below(&s->rng, SIM_PAST_HELD)];
	struct moments *m = moments_now(s);
	struct version *v = engine_version(store_engine(s->store));

	p->files = v->past_count > p->files ? v->past_count : p->files;
	version_put(v);
	try_too_old(s);
	try_gaps(s);
	try_second(s);
	if (*held) {
		compare_moment(s, *held);
		if (rng_one_in(&s->rng, 3)) {
			store_snapshot_release(s->store, *held);
			*held = NULL;
		}
	} else if (m->count > 0) {
		*held = open_moment(s, rng_below(&s->rng, (uint32_t)m->count));
		compare_moment(s, *held);
		if (rng_one_in(&s->rng, 2)) {
			store_snapshot_release(s->store, *held);
			*held = NULL;
		}
	}
}

void sim_past_compare_all(struct sim *s)
{
	struct snapshot *moment;
	size_t i;

	for (i = 0; i < moments_now(s)->count; i++) {
		moment = open_moment(s, i);
		compare_moment(s, moment);
		store_snapshot_release(s->store, moment);
	}
}

/* Of a table that has or had this name, and has no other by now. */
static void erase_table(struct sim *s, uint32_t id, struct bytes name,
			struct naive_match *match)
{
	const struct naive_schema *now = &s->naive.schema;
	size_t i;

	for (i = 0; i < now->table_count; i++)
		if (now->tables[i].id == id &&
		    !bytes_equal(now->tables[i].name, name))
			return;
	match->table = id;
	naive_erase(&s->naive, match);
}

static void erase(struct sim *s, struct bytes name, struct naive_match *match)
{
	const struct sim_past *p = s->past;
	size_t i, j;

	match->table = naive_table(&s->naive, name)->id;
	naive_delete(&s->naive, match);
	naive_erase(&s->naive, match);
	for (i = 0; i < p->count; i++)
		for (j = 0; j < p->states[i].schema.table_count; j++) {
			const struct naive_table *t =
				&p->states[i].schema.tables[j];

			if (bytes_equal(t->name, name))
				erase_table(s, t->id, name, match);
		}
}

/* Whether a table that was dropped had this name and another one: which of the
 * two a purge finds is left to what files have. */
static bool is_ambiguous(struct sim *s, struct bytes name)
{
	const struct sim_past *p = s->past;
	bool named[256] = { false }, other[256] = { false };
	size_t i, j;

	for (i = 0; i < p->count; i++)
		for (j = 0; j < p->states[i].schema.table_count; j++) {
			const struct naive_table *t =
				&p->states[i].schema.tables[j];
			bool same = bytes_equal(t->name, name);

			named[t->id % 256] |= same;
			other[t->id % 256] |= !same;
		}
	for (i = 0; i < 256; i++)
		if (named[i] && other[i])
			return true;
	return false;
}

bool sim_past_purge(struct sim *s)
{
	struct bytes name = sim_draw_table(s), row = sim_draw_row(s);
	uint8_t last[64];
	struct purge_span span = { row, bytes_of(last, row.size + 1) };
	struct naive_match match = { .row = row, .has_row = true };
	struct purge_result r;
	bool prefix = rng_one_in(&s->rng, 3);

	if (!naive_table(&s->naive, name) || is_ambiguous(s, name) ||
	    row.size == 0 || row.size >= sizeof(last) ||
	    row.data[row.size - 1] == 255)
		return false;
	sim_log(s, "purge of %.*s%s in %.*s", (int)row.size, row.data,
		prefix ? " and what begins so" : "", (int)name.size, name.data);
	sim_close_scans(s);
	sim_release_snapshots(s);
	sim_drop_pending(s);
	sim_past_release(s);
	memcpy(last, row.data, row.size);
	last[row.size] = 0;
	if (prefix) {
		match = (struct naive_match){ .prefix = row };
		last[row.size - 1]++;
		span.end.size--;
	}
	sim_want(s, "purge", store_purge(s->store, name, &span, 1, 0, &r), 0);
	erase(s, name, &match);
	s->past->purges++;
	s->past->erased += r.entries;
	if (!rng_one_in(&s->rng, 4))
		return true;
	sim_want(s, "purge", store_purge(s->store, name, &span, 1, 0, &r), 0);
	erase(s, name, &match);
	if (r.rows > 0 || r.past_files > 0 || r.blob_files > 0)
		sim_fail(s,
			 "a second purge erased %llu rows from %llu files of "
			 "history, and dropped %llu of large values",
			 (unsigned long long)r.rows,
			 (unsigned long long)r.past_files,
			 (unsigned long long)r.blob_files);
	return true;
}

void sim_past_release(struct sim *s)
{
	size_t i;

	for (i = 0; i < SIM_PAST_HELD; i++) {
		store_snapshot_release(s->store, s->past->held[i]);
		s->past->held[i] = NULL;
	}
}

void sim_past_end(struct sim *s)
{
	sim_past_rewind(s, 0);
	if (s->past->count > 0)
		naive_schema_release(&s->past->states[0].schema);
	free(s->past->states);
}
