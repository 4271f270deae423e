#include <assert.h>

#include "store/base/err.h"
#include "store/base/hash.h"
#include "store/base/watch/cost.h"
#include "store/engine/files/runs.h"
#include "store/engine/large/large.h"
#include "store/engine/read/cursor.h"
#include "store/engine/read/get.h"
#include "store/engine/read/sources.h"
#include "store/format/sst/sst_iter.h"

/*
 * The newest version of one column, without merging: the sources are asked one
 * after the other, newest writes first, and each shows its newest version that
 * nothing hides. Of two writes of a version the later one is in the source that
 * is asked before, so a version that is not newer than the best so far cannot
 * win, and sources that hold no newer timestamp need not be asked. Range
 * tombstones of all sources count, whichever is asked.
 *
 * A point delete may hide what a later source holds: where one is met, and
 * where a column is long and all hidden, a cursor answers instead.
 */
/* Versions of the column that are looked at in one source; mostly the first one
 * is it. A column with more that are hidden is walked by a cursor, which looks
 * up rules and tombstones once and not for each version. */
#define STEPS_MAX 16
/* Files whose filters the processor is asked to bring before the first of them
 * is looked at, so that it waits for them at the same time. */
#define FILES_AHEAD 8
/* What look returns when it takes a cursor to tell. */
#define TAKES_CURSOR 2
/* How often a large value may be collected between finding and holding it. Far
 * more than can be: each time, the store was compacted in between. */
#define TRIES_MAX 100

/* A lookup under way. The best so far is the newest version found yet. */
struct get {
	struct engine *e;
	struct sources sources; /* taken, so without iterator and covers */
	struct bytes column;    /* the encoded prefix */
	struct bytes after;     /* first key after all of the column's */
	uint64_t hash;          /* of column, for filters */
	const struct gc_family *family; /* NULL: keeps all */
	bool family_known;              /* find_family was called */
	bool hidden;                    /* the family or table was dropped */
	bool has_best;                  /* cell and value are set */
	bool is_large;                  /* value is a list of references */
	bool time_only;                 /* no value is wanted, so a merge will
					   do */
	struct cell *cell;              /* the caller's: time and seq of best */
	struct buf *memory;             /* the caller's: value of best, last */
	size_t value_start;             /* in memory */
};

/* The rules of the column's family, when a first entry needs them: most lookups
 * of what is not there end before. */
static int find_family(struct get *g)
{
	const struct gc_rules *rules = g->sources.rules;
	struct buf scratch = BUF_INIT;
	const struct gc_table *table;
	struct bytes name;
	size_t end;
	int err;

	assert(!g->family_known);
	g->family_known = true;
	if (!rules)
		return 0;
	g->hidden = true;
	table = gc_rules_table(rules, key_table(g->column));
	if (!table)
		return 0;
	err = key_part(g->column, key_row_end(g->column), &scratch, &name,
		       &end);
	if (!err)
		g->family = gc_table_family(table, name);
	buf_release(&scratch);
	g->hidden = !g->family;
	return err;
}

/* A way through the files that may overlap the column, newest writes first. */
struct path {
	size_t run;
	size_t next; /* index in it of the file to look at; 0: not known yet */
};

/* NULL at the end. Of a run there is more than one only if the column is so
 * long that a compaction has cut it. */
static struct sst_file *next_file(const struct get *g, struct path *p)
{
	const struct version *v = g->sources.version;

	for (; p->run < version_run_count(v); p->run++, p->next = 0) {
		const struct level *run = version_run(v, p->run);

		if (run->count == 0)
			continue;
		if (p->next == 0)
			p->next = level_find(run, g->column);
		if (p->next < run->count &&
		    sst_file_overlaps(run->files[p->next], g->column, g->after))
			return run->files[p->next++];
	}
	return NULL;
}

/* As sources_covered, over all sources; but as most lookups need one answer
 * only, nothing is prepared for it. */
static int is_covered(const struct get *g, struct bytes key, uint64_t seq)
{
	const struct sources *s = &g->sources;
	struct tombstone_reader reader;
	struct path path = { 0 };
	struct tombstone span;
	struct sst_file *f;
	size_t i;
	int err;

	for (i = 0; i < s->memtable_count; i++)
		if (atomic_load(&s->memtables[i]->tombstone_count) > 0 &&
		    memtable_cover(s->memtables[i], key, s->seq, NULL) > seq)
			return 1;
	if (s->version->tombstone_count == 0)
		return 0;
	while ((f = next_file(g, &path))) {
		if (sst_properties(f->sst)->tombstone_count == 0)
			continue;
		tombstone_reader_init(&reader, f->sst);
		err = tombstone_reader_cover(&reader, key, s->seq, &span);
		tombstone_reader_release(&reader);
		if (err < 0 || span.seq > seq)
			return err < 0 ? err : 1;
	}
	return 0;
}

/* The entry is newer than the best: 1 if it is the best now, 0 if hidden, or an
 * error. Its value is copied, since the source is left before all are asked. */
static int take(struct get *g, const struct iter *it, uint64_t timestamp)
{
	uint64_t seq = key_seq(it->key);
	int err = 0;

	if (!g->family_known)
		err = find_family(g);
	if (err < 0 || g->hidden || (g->family && seq < g->family->birth_seq))
		return err;
	err = is_covered(g, it->key, seq);
	if (err != 0)
		return err < 0 ? err : 0;
	g->memory->size = g->value_start;
	if (!g->time_only)
		err = buf_add_bytes(g->memory, it->value);
	if (err < 0)
		return err;
	g->cell->timestamp_us = timestamp;
	g->cell->seq = seq;
	g->cell->aggregate = g->family ? g->family->merge : AGGREGATE_NONE;
	g->has_best = true;
	g->is_large = key_kind(it->key) == KEY_BLOB;
	return 1;
}

/* Asks one source, whose iterator it is, for a version newer than the best: 0,
 * TAKES_CURSOR or an error. The first one that nothing hides ends it, as the
 * source's others are older. */
static int look(struct get *g, struct iter *it)
{
	size_t size = g->column.size + KEY_TIMESTAMP_SIZE + KEY_TRAILER_SIZE;
	int result = iter_seek(it, g->column), steps, taken;

	for (steps = 0; result > 0; steps++) {
		uint64_t timestamp;

		thread_cost.cells++;
		if (!bytes_starts_with(it->key, g->column))
			return 0;
		/* A key of another size is malformed; the cursor tells. */
		if (steps == STEPS_MAX || it->key.size != size)
			return TAKES_CURSOR;
		timestamp = key_timestamp(it->key);
		if (g->has_best && timestamp <= g->cell->timestamp_us)
			return 0;
		if (key_seq(it->key) <= g->sources.seq) {
			if (key_kind(it->key) == KEY_DELETE ||
			    (key_kind(it->key) == KEY_MERGE && !g->time_only))
				return TAKES_CURSOR;
			taken = take(g, it, timestamp);
			if (taken != 0)
				return taken < 0 ? taken : 0;
			if (g->hidden)
				return 0;
		}
		result = iter_next(it);
	}
	return result;
}

/* Whether a source whose newest timestamp this is can hold a better version. */
static bool may_win(const struct get *g, uint64_t max_timestamp)
{
	return !g->has_best || max_timestamp > g->cell->timestamp_us;
}

/* The counters are raised after a cell is linked, but before its sequence is
 * published, so of what this lookup sees they tell all. */
static int look_in_memtable(struct get *g, const struct memtable *m)
{
	struct memtable_iter it;

	if (atomic_load_explicit(&m->cell_count, memory_order_acquire) == 0 ||
	    !memtable_may_contain(m, g->hash) ||
	    !may_win(g, atomic_load_explicit(&m->max_timestamp,
					     memory_order_acquire)))
		return 0;
	memtable_iter_init(&it, m);
	return look(g, &it.iter);
}

/* With the iterator on the stack: a lookup makes no allocation for it. */
static int look_in_file(struct get *g, const struct sst_file *f)
{
	uint8_t buffer[KEY_SIZE_MAX];
	struct sst_iter it;
	int result;

	if (!may_win(g, f->max_timestamp))
		return 0;
	result = sst_may_contain(f->sst, g->hash);
	thread_cost.excluded += result == 0;
	if (result <= 0)
		return result;
	thread_cost.files++;
	result = sst_iter_init(&it, f->sst, buffer);
	if (result < 0)
		return result;
	result = look(g, &it.iter);
	sst_iter_release(&it);
	return result;
}

/* Asks the sources in turn: 0, the best being what was found, TAKES_CURSOR or
 * an error. */
static int look_everywhere(struct get *g)
{
	struct sst_file *files[FILES_AHEAD];
	struct sources *s = &g->sources;
	struct path path = { 0 };
	size_t count = 0, i;
	int result = 0;

	for (i = 0; i < s->memtable_count && result == 0; i++)
		result = look_in_memtable(g, s->memtables[i]);
	do {
		for (count = 0; count < FILES_AHEAD; count++) {
			files[count] = next_file(g, &path);
			if (!files[count])
				break;
			sst_prefetch_filter(files[count]->sst, g->hash);
		}
		for (i = 0; i < count && result == 0 && !g->hidden; i++)
			result = look_in_file(g, files[i]);
	} while (result == 0 && count == FILES_AHEAD);
	return result;
}

/* The answer by a cursor, in place of what was found so far. Without a snapshot
 * it may be of a later moment than the sources were, which is as good. */
static int by_cursor(struct get *g, const struct engine_snapshot *snapshot)
{
	struct cursor *c;
	int err;

	g->memory->size = g->value_start;
	err = cursor_open(g->e, snapshot, g->column, g->after, g->column, &c);
	if (err < 0)
		return err;
	err = cursor_next(c, CURSOR_VERSION, g->cell);
	g->is_large = err == 1 && g->cell->blob.size > 0;
	if (err == 1 &&
	    buf_add_bytes(g->memory,
			  g->is_large ? g->cell->blob : g->cell->value) < 0)
		err = -ENOMEM;
	cursor_close(c);
	return err;
}

/* Whether the GC rule lets the best be seen. Rules hide the oldest versions
 * first, so if they hide the newest, the column has none. */
static bool is_kept(const struct get *g, const struct engine_snapshot *snapshot)
{
	struct gc_column gc;
	uint64_t now_us;

	if (!g->family || !g->family->policy)
		return true;
	now_us = sources_time(g->e, snapshot);
	gc_column_start(&gc, g->family, now_us, now_us);
	return gc_column_keep(&gc, g->cell->timestamp_us);
}

/* Shows the value that was found, if one was. Only at last, as memory may have
 * moved with each byte added. */
static int finish(struct get *g, int result)
{
	struct cell *cell = g->cell;

	if (result == 1) {
		cell->value = bytes_after(buf_bytes(g->memory), g->value_start);
		cell->blob = BYTES_NONE;
		if (g->is_large) {
			cell->blob = cell->value;
			cell->value = BYTES_NONE;
		}
	}
	return result;
}

/* As cursor_get, but a large value is left as its list in memory. */
static int get(struct engine *e, const struct engine_snapshot *snapshot,
	       struct bytes column, bool time_only, struct cell *cell,
	       struct buf *memory)
{
	struct get g = { .e = e,
			 .column = column,
			 .hash = hash64(column),
			 .cell = cell,
			 .memory = memory,
			 .time_only = time_only,
			 .value_start = memory->size };
	uint8_t after[KEY_SIZE_MAX];
	int result;

	assert(column.size > KEY_TABLE_SIZE && column.size <= sizeof(after));
	assert(column.data[column.size - 1] == 1);
	/* The successor of a prefix has its final 01 changed to 02. */
	memcpy(after, column.data, column.size);
	after[column.size - 1]++;
	g.after = bytes_of(after, column.size);
	/* History has no order that tells which write is newer. */
	if (snapshot && snapshot->past)
		return finish(&g, by_cursor(&g, snapshot));
	result = snapshot ? 0 : engine_fresh(e);
	if (result < 0)
		return finish(&g, result);
	sources_take(e, snapshot, &g.sources);
	result = look_everywhere(&g);
	if (result == 0 && g.has_best)
		result = is_kept(&g, snapshot);
	sources_close(&g.sources);
	if (result == TAKES_CURSOR)
		result = by_cursor(&g, snapshot);
	return finish(&g, result);
}

int cursor_get(struct engine *e, const struct engine_snapshot *snapshot,
	       struct bytes column, struct cell *cell, struct buf *memory,
	       struct large **large)
{
	size_t start = memory->size;
	int result, err, tries;

	*large = NULL;
	for (tries = 0; tries < TRIES_MAX; tries++) {
		memory->size = start;
		result = get(e, snapshot, column, false, cell, memory);
		/* Not so the value of what proved to be hidden. */
		if (result != 1)
			memory->size = start;
		if (result != 1 || cell->blob.size == 0)
			return result;
		/* -ESTALE: its blob file has gone since the sources were given
		 * back. Then the version was deleted, or its chunks moved and
		 * its references with them: what is there now is looked up. */
		err = large_open(e, cell->blob, large);
		if (err != -ESTALE)
			return err < 0 ? err : 1;
	}
	return fail(ERR_blob_damaged,
		    "a large value refers to a blob file that is not there; "
		    "see tabletfs check");
}

int cursor_get_time(struct engine *e, const struct engine_snapshot *snapshot,
		    struct bytes column, uint64_t *timestamp_us)
{
	struct buf memory = BUF_INIT;
	struct cell cell;
	int result = get(e, snapshot, column, true, &cell, &memory);

	buf_release(&memory);
	if (result == 1)
		*timestamp_us = cell.timestamp_us;
	return result;
}
