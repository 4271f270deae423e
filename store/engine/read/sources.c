#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/base/watch/cost.h"
#include "store/base/hash.h"
#include "store/engine/compact/merge.h"
#include "store/engine/files/runs.h"
#include "store/engine/history/past_iter.h"
#include "store/engine/read/row_view.h"
#include "store/engine/read/sources.h"
#include "store/format/sst/sst_iter.h"

/*
 * Of each memtable there is one iterator, and of a sorted run one for all of
 * its files, since only one of them holds a key: levels are such runs, and
 * level 0 is several. Where the read is of one row, family or column, files are
 * asked one by one whether they may hold it, and most have no iterator at all.
 * Tombstones are no entries of these iterators: each source that has some is
 * asked about a key when an entry is to be judged.
 */

/* So many iterators need no allocation: a memtable or two, some runs of level
 * 0, and a level or two below. */
#define ITERS_AT_FIRST 8

/* Iterators while they are collected; owned until the merge takes them. */
struct collector {
	bool rows;           /* over rows */
	uint64_t seq;        /* that history files are read at */
	struct iter **iters; /* first, or what has become of it */
	size_t count;
	size_t capacity; /* of iters */
	struct iter *first[ITERS_AT_FIRST];
};

/* The memtables, newest first, and the version that the snapshot has, or those
 * of now. Needs lock. */
static void take_files(struct engine *e, const struct engine_snapshot *snapshot,
		       struct sources *s)
{
	struct engine_view *view = snapshot ? snapshot->view : NULL;
	size_t i;

	if (!view)
		s->memtables[s->memtable_count++] = memtable_get(e->memtable);
	for (i = view ? view->count : e->immutable_count; i > 0; i--)
		s->memtables[s->memtable_count++] = memtable_get(
			view ? view->memtables[i - 1] : e->immutables[i - 1]);
	s->version = version_get(view ? view->version : e->version);
}

/* Fills s but for iterator and covers. with_time: whether the GC time is
 * wanted, which may take a look at the clock. */
static void take(struct engine *e, const struct engine_snapshot *snapshot,
		 bool with_time, struct sources *s)
{
	s->iter = NULL;
	s->covers = NULL;
	s->memtable_count = s->cover_count = s->iter_count = 0;
	s->pasts = NULL;
	s->past_count = 0;
	s->is_past = snapshot && snapshot->past;
	s->engine = e;
	s->snapshot = snapshot && !snapshot->pending ? snapshot : NULL;
	s->resting = s->listed = false;
	/* What is pending is newer than all that is written, so it comes
	 * first. Its owner keeps it meanwhile. */
	if (snapshot && snapshot->pending)
		s->memtables[s->memtable_count++] =
			memtable_get(snapshot->pending);
	/* The visible sequence is read under the same lock as the pointers, so
	 * no compaction that was told a later one has replaced a file here. */
	pthread_mutex_lock(&e->lock);
	take_files(e, snapshot, s);
	s->epoch = atomic_load(&e->rests.epoch);
	s->rules = gc_rules_get(snapshot && snapshot->rules ? snapshot->rules
							    : e->rules);
	/* What is pending is in no sequence, and what other rules hid may be
	 * seen by the snapshot's; of what is not shown yet anything may be. */
	s->is_gone = s->is_past && snapshot->gone;
	s->gaps = s->rules == e->rules && !s->is_past &&
				  !(snapshot && (snapshot->pending ||
						 snapshot->view != e->view))
			  ? &e->gaps
			  : NULL;
	s->seq = snapshot ? snapshot->seq : atomic_load(&e->visible_seq);
	if (with_time)
		s->gc_time_us =
			snapshot ? snapshot->gc_time_us : engine_gc_time(e);
	pthread_mutex_unlock(&e->lock);
	assert(s->memtable_count <= IMMUTABLES_MAX + 2);
	assert(s->version);
}

void sources_take(struct engine *e, const struct engine_snapshot *snapshot,
		  struct sources *s)
{
	take(e, snapshot, false, s);
}

uint64_t sources_time(struct engine *e, const struct engine_snapshot *snapshot)
{
	uint64_t now;

	if (snapshot)
		return snapshot->gc_time_us;
	pthread_mutex_lock(&e->lock);
	now = engine_gc_time(e);
	pthread_mutex_unlock(&e->lock);
	return now;
}

/* Notes one that has tombstones, which the references of s keep. */
static int add_cover(struct sources *s, const struct cover *cover)
{
	struct cover *grown =
		realloc(s->covers, (s->cover_count + 1) * sizeof(*s->covers));

	assert(!cover->memtable != !cover->run);
	if (!grown)
		return -ENOMEM;
	s->covers = grown;
	s->covers[s->cover_count++] = *cover;
	return 0;
}

/* Takes it over, also on failure. */
static int add_iter(struct collector *c, struct iter *it)
{
	struct iter **grown;

	if (c->count == c->capacity) {
		grown = malloc(2 * c->capacity * sizeof(*grown));
		if (!grown) {
			iter_close(it);
			return -ENOMEM;
		}
		memcpy(grown, c->iters, c->count * sizeof(*grown));
		if (c->iters != c->first)
			free(c->iters);
		c->iters = grown;
		c->capacity *= 2;
	}
	c->iters[c->count++] = it;
	return 0;
}

/* A memtable changes while this looks at it. What the read is to see was in it
 * before its sequence was published, and so are the counts and the filter's
 * bits for that; if they tell of more, it costs time and no truth. */
static int add_memtable(struct sources *s, struct collector *c,
			struct memtable *m, struct bytes prefix)
{
	struct iter *it;
	int err = 0;

	if (atomic_load(&m->tombstone_count) > 0)
		err = add_cover(s, &(struct cover){ .memtable = m });
	if (err < 0 || atomic_load(&m->cell_count) == 0 ||
	    (prefix.size > 0 && !memtable_may_contain(m, hash64(prefix))))
		return err;
	err = memtable_iter_new(m, &it);
	/* The view takes it over, also on failure. */
	if (err == 0 && c->rows)
		err = row_view_new(it, atomic_load(&m->delete_count) > 0, &it);
	return err < 0 ? err : add_iter(c, it);
}

/* For level_iter_new. What a read meets stays in the cache. */
static int open_cells(struct sst *t, struct iter **out)
{
	return sst_iter_new(t, true, out);
}

/* What a moment sees of a history file. */
static int open_past(const struct collector *c, struct sst *t,
		     struct iter **out)
{
	int err = open_cells(t, out);

	if (err == 0)
		err = past_iter_new(*out, c->seq, out);
	if (err == 0 && c->rows)
		err = row_view_new(*out, true, out);
	return err;
}

/* Adds an iterator over f unless its filter excludes prefix. */
static int add_file(struct collector *c, const struct sst_file *f,
		    struct bytes prefix)
{
	struct iter *it;
	int err;

	if (prefix.size > 0) {
		err = sst_may_contain(f->sst, hash64(prefix));
		thread_cost.excluded += err == 0;
		if (err <= 0)
			return err;
	}
	if (sst_is_past(f->sst))
		err = open_past(c, f->sst, &it);
	else
		err = c->rows ? row_view_of_sst(f->sst, &it)
			      : open_cells(f->sst, &it);
	return err < 0 ? err : add_iter(c, it);
}

/* Adds what of one run overlaps [start, end): its files from first on, one
 * after the other. They are one iterator, unless a prefix lets the filters
 * exclude them one by one. */
static int add_run(struct sources *s, struct collector *c,
		   const struct level *run, struct bytes start,
		   struct bytes end, struct bytes prefix)
{
	size_t first = level_find(run, start), i;
	bool covers = false;
	struct iter *it;
	int err = 0;

	for (i = first; i < run->count && err == 0; i++) {
		struct sst_file *f = run->files[i];

		if (!sst_file_overlaps(f, start, end))
			break;
		if (sst_properties(f->sst)->tombstone_count > 0 && !covers) {
			err = add_cover(s, &(struct cover){ .run = run });
			covers = true;
		}
		if (prefix.size > 0 && err == 0)
			err = add_file(c, f, prefix);
	}
	if (err < 0 || prefix.size > 0 || i == first)
		return err;
	/* One file needs no search for which of them it is. */
	if (i == first + 1)
		return add_file(c, run->files[first], prefix);
	err = level_iter_new(run, c->rows ? row_view_of_sst : open_cells, &it);
	return err < 0 ? err : add_iter(c, it);
}

/* Shows f as a run of one file. */
static int show_past(struct past_file *f, struct past_run *p)
{
	const struct past_facts *facts = f->facts;
	int err;

	*p = (struct past_run){ .run = { .count = 1, .size = facts->size } };
	p->run.files = p->files;
	p->files[0] = &p->file;
	p->file.id = facts->id;
	p->file.size = facts->size;
	p->file.seq = facts->seq;
	p->file.smallest = facts->smallest;
	p->file.largest = facts->largest;
	p->file.largest_exclusive = facts->largest_exclusive;
	err = past_file_open(f, &p->file.sst);
	if (err == 0)
		p->file.max_timestamp =
			sst_properties(p->file.sst)->max_timestamp;
	return err;
}

/* Whether the moment needs f, which was written since, for [start, end). */
static bool is_asked(const struct sources *s, const struct past_file *f,
		     struct bytes start, struct bytes end)
{
	return f->facts->visible_seq >= s->seq &&
	       past_file_overlaps(f, start, end);
}

/* Adds the history files that the moment needs: those that were written since.
 */
static int add_pasts(struct sources *s, struct collector *c, struct bytes start,
		     struct bytes end, struct bytes prefix)
{
	const struct version *v = s->version;
	size_t count = 0, i;
	int err = 0;

	for (i = 0; i < v->past_count; i++)
		count += is_asked(s, v->pasts[i], start, end);
	if (count == 0)
		return 0;
	s->pasts = malloc(count * sizeof(*s->pasts));
	if (!s->pasts)
		return -ENOMEM;
	c->seq = s->seq;
	for (i = 0; i < v->past_count && err == 0; i++) {
		struct past_run *p = &s->pasts[s->past_count];

		if (!is_asked(s, v->pasts[i], start, end))
			continue;
		err = show_past(v->pasts[i], p);
		s->past_count++;
		if (err == -ERR_manifest_damaged && s->engine->follower)
			err = fail(ESTALE,
				   "%s: its owner has given up what was there "
				   "then, while it was read; read again",
				   s->engine->volume->path);
		if (err == 0)
			err = add_run(s, c, &p->run, start, end, prefix);
	}
	return err;
}

/* Opens s->iter over what s refers to, a merge if there is more than one; on
 * failure all of s is given back. */
static int open_iter(struct sources *s, bool rows, struct bytes start,
		     struct bytes end, struct bytes prefix)
{
	struct collector c = { .rows = rows, .capacity = ITERS_AT_FIRST };
	size_t i;
	int err = 0;

	assert(!s->iter && s->cover_count == 0);
	c.iters = c.first;
	if (s->is_gone)
		err = fail(ERR_moment_gone,
			   "%s: the moment that was read at is none any more",
			   s->engine->volume->path);
	else if (!s->snapshot)
		err = engine_fresh(s->engine);
	for (i = 0; i < s->memtable_count && err == 0; i++)
		err = add_memtable(s, &c, s->memtables[i], prefix);
	for (i = 0; i < version_run_count(s->version) && err == 0; i++) {
		const struct level *run = version_run(s->version, i);

		if (run->count > 0)
			err = add_run(s, &c, run, start, end, prefix);
	}
	if (s->is_past && err == 0)
		err = add_pasts(s, &c, start, end, prefix);
	if (err < 0) {
		for (i = 0; i < c.count; i++)
			iter_close(c.iters[i]);
	} else if (c.count == 1) {
		s->iter = c.iters[0];
	} else if (c.count > 1) {
		err = merge_iter_new(c.iters, c.count, &s->iter);
	}
	if (c.iters != c.first)
		free(c.iters);
	s->iter_count = c.count;
	if (err < 0)
		sources_close(s);
	return err;
}

int sources_open(struct engine *e, const struct engine_snapshot *snapshot,
		 struct bytes start, struct bytes end, struct bytes prefix,
		 struct sources *s)
{
	take(e, snapshot, true, s);
	return open_iter(s, false, start, end, prefix);
}

int sources_open_rows(struct engine *e, const struct engine_snapshot *snapshot,
		      struct bytes start, struct bytes end, struct sources *s)
{
	take(e, snapshot, true, s);
	return open_iter(s, true, start, end, BYTES_NONE);
}

int sources_open_again(const struct sources *of, struct bytes start,
		       struct bytes end, struct sources *s)
{
	size_t i;

	/* Pointers first, references below: of keeps what they point at. */
	*s = *of;
	s->iter = NULL;
	s->covers = NULL;
	s->cover_count = 0;
	s->pasts = NULL;
	s->past_count = 0;
	/* It goes with of, and does not rest by itself. */
	s->snapshot = NULL;
	s->resting = s->listed = false;
	for (i = 0; i < s->memtable_count; i++)
		memtable_get(s->memtables[i]);
	version_get(s->version);
	gc_rules_get(s->rules);
	return open_iter(s, false, start, end, BYTES_NONE);
}

void sources_close(struct sources *s)
{
	size_t i;

	assert(!s->listed);

	/* Before what these read from. */
	iter_close(s->iter);
	for (i = 0; i < s->cover_count; i++)
		tombstone_reader_release(&s->covers[i].reader);
	for (i = 0; i < s->memtable_count; i++)
		memtable_put(s->memtables[i]);
	version_put(s->version);
	gc_rules_put(s->rules);
	free(s->covers);
	free(s->pasts);
	s->pasts = NULL;
	s->past_count = 0;
	s->iter = NULL;
	s->version = NULL;
	s->rules = NULL;
	s->covers = NULL;
	s->memtable_count = s->cover_count = s->iter_count = 0;
}

void sources_start_run(const struct sources *s, struct gap_run *r)
{
	*r = (struct gap_run){ .gaps = s->gaps,
			       .rules = s->rules,
			       .seq = s->seq,
			       .gc_time_us = s->gc_time_us };
}

static bool in_span(const struct tombstone *span, struct bytes key)
{
	return bytes_compare(key, span->start) >= 0 &&
	       (span->end.size == 0 || bytes_compare(key, span->end) < 0);
}

/* Of a run, one file of which may have tombstones over key: those over a file's
 * range are all in that file. Between two there are none. */
static int find_in_run(const struct sources *s, struct cover *c,
		       struct bytes key)
{
	size_t i = level_find(c->run, key);
	const struct sst_file *f = i < c->run->count ? c->run->files[i] : NULL;
	int err = 0;

	c->span = (struct tombstone){ BYTES_NONE, BYTES_NONE, 0 };
	if (i > 0)
		c->span.start = c->run->files[i - 1]->largest;
	if (f && bytes_compare(key, f->smallest) < 0) {
		c->span.end = f->smallest;
	} else if (f) {
		if (c->reader.sst != f->sst) {
			tombstone_reader_release(&c->reader);
			tombstone_reader_init(&c->reader, f->sst);
		}
		err = tombstone_reader_cover(&c->reader, key, s->seq, &c->span);
		/* Behind the last one the next file may have more. */
		if (c->span.end.size == 0 && i + 1 < c->run->count)
			c->span.end = c->run->files[i + 1]->smallest;
		/* Before the first one the file before may have. */
		if (c->span.start.size == 0)
			c->span.start = f->smallest;
	}
	return err;
}

/* Sets the span of the cover that key is in, with the newest tombstone there
 * that the read sees. A memtable may get newer ones meanwhile, which do not
 * count, so an answer stays right. */
static int find_span(const struct sources *s, struct cover *c, struct bytes key)
{
	int err = 0;

	if (c->valid && in_span(&c->span, key))
		return 0;
	if (c->memtable)
		c->span.seq =
			memtable_cover(c->memtable, key, s->seq, &c->span);
	else
		err = find_in_run(s, c, key);
	c->valid = err == 0;
	return err;
}

int sources_covered(struct sources *s, struct bytes key, uint64_t seq)
{
	size_t i;
	int err;

	/* A tombstone hides what is older than it, whatever the timestamps. */
	for (i = 0; i < s->cover_count; i++) {
		err = find_span(s, &s->covers[i], key);
		if (err < 0 || s->covers[i].span.seq > seq)
			return err < 0 ? err : 1;
	}
	return 0;
}

int sources_cover(struct sources *s, struct bytes key, uint64_t *seq,
		  struct bytes *end)
{
	size_t i;

	*seq = 0;
	*end = BYTES_NONE;
	for (i = 0; i < s->cover_count; i++) {
		const struct tombstone *span = &s->covers[i].span;
		int err = find_span(s, &s->covers[i], key);

		if (err < 0)
			return err;
		*seq = span->seq > *seq ? span->seq : *seq;
		if (span->end.size > 0 &&
		    (end->size == 0 || bytes_compare(span->end, *end) < 0))
			*end = span->end;
	}
	return 0;
}

/* It cannot if each source says that nothing covers the row prefix, up to a
 * place that is not before the end of the row. */
int sources_may_cover(struct sources *s, struct buf *row)
{
	size_t i;

	assert(row->size > KEY_TABLE_SIZE);

	for (i = 0; i < s->cover_count; i++) {
		const struct tombstone *span = &s->covers[i].span;
		int err = find_span(s, &s->covers[i], buf_bytes(row));
		bool ends;

		if (err < 0)
			return err;
		/* The successor of a prefix has its final 01 changed to 02. */
		row->data[row->size - 1]++;
		ends = span->end.size > 0 &&
		       bytes_compare(span->end, buf_bytes(row)) < 0;
		row->data[row->size - 1]--;
		if (span->seq > 0 || ends)
			return 1;
	}
	return 0;
}
