#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/engine/run/backup.h"
#include "store/engine/run/dead.h"
#include "store/engine/run/step.h"
#include "store/model/model.h"
#include "tests/sim/sim_past.h"

void sim_fail(struct sim *s, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(s->problem, sizeof(s->problem), fmt, args);
	va_end(args);
	longjmp(s->failed, 1);
}

void sim_log(const struct sim *s, const char *fmt, ...)
{
	va_list args;

	if (!s->verbose)
		return;
	printf("%u: ", s->op);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

void sim_want(struct sim *s, const char *what, int err, int want)
{
	if (err != want)
		sim_fail(s, "%s: got %d (%s: %s), wanted %d (%s)", what, err,
			 err_detail(), err_text(err), want,
			 want < 0 ? err_text(want) : "success");
}

static uint64_t sim_now(void *context)
{
	return ((struct sim *)context)->now_us;
}

static void add_state(struct sim *s, struct sim_states *states)
{
	struct sim_state state = { store_seq(s->store), s->naive.seq };

	if (states->count > 0 &&
	    states->items[states->count - 1].engine_seq == state.engine_seq) {
		states->items[states->count - 1] = state;
		return;
	}
	if (states->count == states->capacity) {
		states->capacity = states->capacity * 2 + 64;
		states->items =
			realloc(states->items,
				states->capacity * sizeof(*states->items));
		if (!states->items)
			abort();
	}
	states->items[states->count++] = state;
}

/* What is there now is durable. */
static void mark_durable(struct sim *s)
{
	s->states.count = 0;
	add_state(s, &s->states);
}

static void open_store(struct sim *s, struct volume *v)
{
	static struct clock clock;
	int err;

	clock = (struct clock){ sim_now, s };
	s->options.clock = &clock;
	/* GC time is kept from flush to flush only. */
	if (s->now_us < s->gc_us)
		s->now_us = s->gc_us;
	s->volume = v;
	err = store_open_volume(v, &s->options, &s->store);
	if (err < 0)
		s->volume = NULL;
	sim_want(s, "open", err, 0);
}

/* It is kept as it is. */
static void open_to_read(struct sim *s, struct volume *v)
{
	s->options.read_only = true;
	open_store(s, v);
	s->options.read_only = false;
}

/* As many bytes as a log may hold are many memtables, after some openings. */
static void draw_memory(struct sim *s)
{
	s->options.memtable_size = 256 << rng_below(&s->rng, 12);
	if (s->lazy)
		s->options.memtable_size =
			rng_one_in(&s->rng, 2) ? 256 : 1 << 20;
	s->options.cache_size = 16384 << rng_below(&s->rng, 7);
	/* As little as that few readers keep their sources while they rest. */
	s->options.shared_size = (size_t)1 << (20 + rng_below(&s->rng, 6));
	sim_log(s, "memtable %zu, cache %zu, shared %llu",
		s->options.memtable_size, s->options.cache_size,
		(unsigned long long)s->options.shared_size);
}

static void count_work(struct sim *s)
{
	struct store_stats stats;

	store_stats(s->store, &stats);
	s->counts.flushes += stats.flush_count;
	s->counts.compactions += stats.compaction_count;
	s->counts.moves += stats.trivial_move_count;
}

/* Returns the volume, as the store left it. */
static struct volume *close_store(struct sim *s)
{
	struct store *store = s->store;
	struct volume *v = s->volume;

	sim_close_scans(s);
	sim_release_snapshots(s);
	sim_drop_pending(s);
	if (s->past)
		sim_past_release(s);
	count_work(s);
	volume_mem_keep(v);
	s->store = NULL;
	sim_want(s, "close", store_close(store), 0);
	if (volume_mem_open_count(v) > 0)
		sim_fail(s, "%zu objects of the volume were not closed",
			 volume_mem_open_count(v));
	return v;
}

/* The volume calls this before and after each change. */
static void maybe_clone(void *context, struct volume *v)
{
	struct sim *s = context;
	size_t i;
	int err;

	if (s->clone || s->crash_in == 0 || --s->crash_in > 0)
		return;
	err = s->crash_is_kill ? volume_mem_kill_clone(v, &s->clone)
			       : volume_mem_crash_clone(v, &s->rng, &s->clone);
	if (err < 0)
		abort();
	s->clone_states.count = 0;
	for (i = 0; i < s->states.count; i++) {
		if (s->clone_states.count == s->clone_states.capacity) {
			s->clone_states.capacity += 64;
			s->clone_states.items =
				realloc(s->clone_states.items,
					s->clone_states.capacity *
						sizeof(*s->clone_states.items));
			if (!s->clone_states.items)
				abort();
		}
		s->clone_states.items[s->clone_states.count++] =
			s->states.items[i];
	}
}

void sim_arm_crash(struct sim *s)
{
	if (s->crash_in > 0 || s->clone)
		return;
	s->crash_is_kill = rng_one_in(&s->rng, 4);
	s->crash_in = 1 + rng_below(&s->rng, 1 << rng_below(&s->rng, 6));
	volume_mem_hook(s->volume, maybe_clone, s);
	sim_log(s, "%s in %u changes", s->crash_is_kill ? "kill" : "power cut",
		s->crash_in);
}

static void drop_clone_schema(struct sim *s)
{
	if (s->have_clone_schema)
		naive_schema_release(&s->clone_schema);
	s->have_clone_schema = false;
}

/*
 * The state in which the clone must be: one since the last sync before it was
 * taken, the last of which is the one that the operation under way led to.
 * *whole tells whether that operation is in it.
 */
static const struct sim_state *recovered_state(struct sim *s, bool *whole)
{
	const struct sim_states *states = &s->clone_states;
	const struct sim_state *last = &states->items[states->count - 1];
	uint64_t seq = store_seq(s->store);
	size_t i;

	*whole = seq == last->engine_seq;
	for (i = 0; i < states->count; i++)
		if (states->items[i].engine_seq == seq)
			return &states->items[i];
	/* A changed rule first buries what the old one hides. */
	if (s->buries && states->count > 1 && seq > last[-1].engine_seq &&
	    seq < last->engine_seq)
		return last;
	sim_fail(s,
		 "recovered sequence %llu is no state between %llu, which was "
		 "durable, and %llu",
		 (unsigned long long)seq,
		 (unsigned long long)states->items[0].engine_seq,
		 (unsigned long long)last->engine_seq);
}

static void want_seq(struct sim *s, uint64_t want)
{
	uint64_t seq = store_seq(s->store);

	if (seq != want)
		sim_fail(s, "opened with sequence %llu, not %llu",
			 (unsigned long long)seq, (unsigned long long)want);
}

/* Goes on with the clone. */
static void crash(struct sim *s)
{
	struct volume *clone = s->clone, *old;
	const struct sim_state *state;
	bool whole, read_first;

	add_state(s, &s->clone_states);
	old = close_store(s);
	old->ops->close(old);
	s->volume = NULL;
	s->clone = NULL;
	draw_memory(s);
	read_first = rng_one_in(&s->rng, 4);
	if (read_first)
		open_to_read(s, clone);
	else
		open_store(s, clone);
	state = recovered_state(s, &whole);
	sim_log(s, "recovered sequence %llu: %s",
		(unsigned long long)state->engine_seq,
		store_recovery_text(s->store));
	if (state->naive_seq < s->naive.seq)
		s->counts.lost++;
	if (!whole && s->have_clone_schema) {
		naive_schema_release(&s->naive.schema);
		s->naive.schema = s->clone_schema;
		s->have_clone_schema = false;
	}
	drop_clone_schema(s);
	naive_rewind(&s->naive, state->naive_seq);
	if (s->past) {
		sim_past_rewind(s, state->engine_seq);
		sim_past_note(s);
	}
	mark_durable(s);
	if (s->crash_is_kill)
		s->counts.kills++;
	else
		s->counts.crashes++;
	sim_compare_all(s);
	if (!read_first)
		return;
	open_store(s, close_store(s));
	want_seq(s, s->states.items[0].engine_seq);
	sim_compare_all(s);
}

static void reopen(struct sim *s)
{
	uint64_t want = store_seq(s->store);
	struct volume *v = close_store(s);

	sim_log(s, "reopen");
	draw_memory(s);
	if (rng_one_in(&s->rng, 3)) {
		open_to_read(s, v);
		want_seq(s, want);
		sim_compare_all(s);
		v = close_store(s);
	}
	open_store(s, v);
	want_seq(s, want);
	mark_durable(s);
	s->counts.reopens++;
	sim_compare_all(s);
}

/* A backup is a store that answers as this one does. */
static void backup(struct sim *s)
{
	struct backup_result result;
	struct store *store = s->store, *copy;
	struct engine_source own;
	struct backup_source from = engine_source(store_engine(store), &own);
	struct volume *to;

	sim_log(s, "backup");
	sim_want(s, "volume", volume_mem_new(&to), 0);
	sim_want(s, "backup", backup_bring(&from, NULL, to, &result), 0);
	sim_want(s, "open backup", store_open_volume(to, &s->options, &copy),
		 0);
	s->store = copy;
	sim_compare_all(s);
	s->store = store;
	sim_want(s, "close backup", store_close(copy), 0);
}

static void report(void *context, const char *problem)
{
	sim_fail(context, "check: %s", problem);
}

void sim_compare_all(struct sim *s)
{
	static const char *const names[] = { "t1", "t2", "t3" };
	struct scan_range range = { 0 };
	struct scan *scan;
	size_t i;

	sim_compare_attributes(s, BYTES_NONE);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		range.table = bytes_string(names[i]);
		if (naive_table(&s->naive, range.table)) {
			sim_compare_attributes(s, range.table);
			sim_compare_table(s,
					  naive_table(&s->naive, range.table));
		} else {
			sim_want(s, "scan of no table",
				 scan_open(s->store, NULL, &range, &scan),
				 -ERR_no_table);
		}
	}
	sim_want(s, "check", store_check(s->store, report, s), 0);
}

void sim_start(struct sim *s, uint64_t seed)
{
	struct volume *v;

	s->seed = seed;
	s->rng.state = seed;
	s->now_us = s->gc_us = UINT64_C(1000000000);
	store_options_init(&s->options);
	s->options.create = true;
	s->options.background = false;
	/* Few rows make long histories, many make deep trees. */
	s->row_count =
		(const uint32_t[]){ 2, 5, 12, 30, 800 }[rng_below(&s->rng, 5)];
	s->first_row = rng_below(&s->rng, 64);
	s->set_percent = 50 + rng_below(&s->rng, 50);
	s->imports = rng_one_in(&s->rng, 8);
	if (s->imports)
		s->set_percent = 100;
	s->lazy = rng_one_in(&s->rng, 4);
	s->options.memtable_size = 4096 << rng_below(&s->rng, 6);
	s->options.rows = rng_below(&s->rng, 3);
	s->options.gap_steps = 1 + rng_below(&s->rng, 4);
	/* Most values are large in most runs. */
	s->options.blob_threshold = 1 << rng_below(&s->rng, 9);
	s->options.blob_chunk_size = 50 << rng_below(&s->rng, 9);
	s->options.blob_file_size = 2000 << rng_below(&s->rng, 8);
	s->options.file_size = 128 << rng_below(&s->rng, 10);
	s->options.cache_size = 16384 << rng_below(&s->rng, 7);
	sim_log(s,
		"%u rows, memtable %zu, files %llu, cache %zu, large from %zu "
		"in %u, blob files %llu",
		s->row_count, s->options.memtable_size,
		(unsigned long long)s->options.file_size, s->options.cache_size,
		s->options.blob_threshold, s->options.blob_chunk_size,
		(unsigned long long)s->options.blob_file_size);
	sim_want(s, "volume", volume_mem_new(&v), 0);
	open_store(s, v);
	if (s->past)
		sim_past_begin(s);
	mark_durable(s);
	if (s->past)
		sim_past_note(s);
}

void sim_end(struct sim *s)
{
	sim_close_scans(s);
	sim_release_snapshots(s);
	sim_drop_pending(s);
	if (s->past)
		sim_past_release(s);
	if (s->store)
		store_close(s->store);
	else if (s->volume)
		s->volume->ops->close(s->volume);
	if (s->clone)
		s->clone->ops->close(s->clone);
	drop_clone_schema(s);
	naive_release(&s->naive);
	free(s->states.items);
	free(s->clone_states.items);
}

static void set_clock(struct sim *s, uint64_t now_us)
{
	struct snapshot *snapshot;

	s->now_us = now_us;
	if (now_us <= s->gc_us)
		return;
	/* What the store has not seen it cannot go by. */
	s->gc_us = now_us;
	sim_want(s, "snapshot", store_snapshot(s->store, &snapshot), 0);
	store_snapshot_release(s->store, snapshot);
}

static void clock_op(struct sim *s)
{
	if (rng_one_in(&s->rng, 20))
		set_clock(s, s->now_us - rng_below(&s->rng, 200) *
						 UINT64_C(1000000));
	else
		set_clock(s,
			  s->now_us +
				  rng_below(&s->rng, 60) * UINT64_C(1000000) +
				  rng_below(&s->rng, 1000000));
}

static void purge(struct sim *s)
{
	uint64_t seq = s->states.items[0].naive_seq;
	size_t i;

	for (i = 0; i < SIM_SNAPSHOTS; i++)
		if (s->snapshots[i].snapshot && s->snapshots[i].seq < seq)
			seq = s->snapshots[i].seq;
	if (s->past && sim_past_oldest(s) < seq)
		seq = sim_past_oldest(s);
	if (!s->clone)
		naive_purge(&s->naive, seq);
}

/* Part of the operation that was done: its crash may come here. */
static void past_op(struct sim *s)
{
	sim_past_note(s);
	if (rng_one_in(&s->rng, 3))
		engine_tick(store_engine(s->store));
	if (rng_one_in(&s->rng, 6))
		sim_past_op(s);
	/* A crash within it has a test of its own: what it leaves of the past
	 * is no state of the model. */
	if (s->crash_in == 0 && !s->clone && rng_one_in(&s->rng, 40) &&
	    sim_past_purge(s)) {
		mark_durable(s);
		sim_past_note(s);
	}
}

void sim_step(struct sim *s)
{
	uint32_t kind = rng_below(&s->rng, 1000);

	s->op++;
	if (s->op % 32 == 0)
		purge(s);
	s->buries = false;
	drop_clone_schema(s);
	if (s->crash_in > 0) {
		s->have_clone_schema = true;
		if (naive_schema_copy(&s->naive.schema, &s->clone_schema) < 0)
			abort();
	}
	if (kind < 450)
		sim_write_op(s);
	else if (kind < 490)
		sim_schema_op(s);
	else if (kind < 700 && s->lazy)
		sim_write_op(s);
	else if (kind < 720)
		sim_read_op(s);
	else if (kind < 770)
		sim_snapshot_op(s);
	else if (kind < 870)
		sim_background_op(s);
	else if (kind < 930)
		clock_op(s);
	else if (kind < 960)
		sim_want(s, "sync", store_sync(s->store), 0);
	else if (kind < 966)
		reopen(s);
	else if (kind < 968)
		backup(s);
	else if (kind < 972 && !s->lazy)
		sim_quiet_op(s);
	else if (!s->lazy || rng_one_in(&s->rng, 8))
		sim_arm_crash(s);
	if (kind >= 930 && kind < 960)
		mark_durable(s);
	add_state(s, &s->states);
	if (s->past)
		past_op(s);
	if (s->clone) {
		s->crash_in = 0;
		crash(s);
	}
}
