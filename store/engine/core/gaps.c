#include <assert.h>
#include <string.h>

#include "store/engine/core/gaps.h"

/* What comes after every write of a version: its key, and this. */
static const uint8_t last_trailer[KEY_TRAILER_SIZE] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

void gaps_init(struct gaps *g, unsigned int steps)
{
	memset(g, 0, sizeof(*g));
	g->steps = steps ? steps : GAP_STEPS;
	pthread_mutex_init(&g->lock, NULL);
}

static void release_gap(struct gap *gap)
{
	buf_release(&gap->start);
	buf_release(&gap->end);
}

/* Takes items[i] out. */
static void take_out(struct gaps *g, size_t i)
{
	assert(i < g->count);
	release_gap(&g->items[i]);
	g->count--;
	memmove(&g->items[i], &g->items[i + 1],
		(g->count - i) * sizeof(g->items[0]));
	atomic_fetch_sub(&g->active, 1);
}

static void forget_all(struct gaps *g)
{
	struct gap_watch *w;

	while (g->count > 0)
		take_out(g, g->count - 1);
	for (w = g->watches; w; w = w->next)
		w->lost = true;
}

void gaps_release(struct gaps *g)
{
	assert(!g->watches);
	forget_all(g);
	pthread_mutex_destroy(&g->lock);
}

void gaps_note_any(struct gaps *g, uint64_t seq)
{
	atomic_store(&g->begun_seq, seq);
	pthread_mutex_lock(&g->lock);
	forget_all(g);
	pthread_mutex_unlock(&g->lock);
}

void gaps_set_rules(struct gaps *g, const struct gc_rules *rules)
{
	pthread_mutex_lock(&g->lock);
	forget_all(g);
	g->rules = rules;
	pthread_mutex_unlock(&g->lock);
}

/* Whether key lies before end; an empty end is after all. */
static bool is_before(struct bytes key, const struct buf *end)
{
	return end->size == 0 || bytes_compare(key, buf_bytes(end)) < 0;
}

/* The first gap that begins after key, or count. */
static size_t first_after(const struct gaps *g, struct bytes key)
{
	size_t low = 0, high = g->count, i;

	while (low < high) {
		i = low + (high - low) / 2;
		if (bytes_compare(buf_bytes(&g->items[i].start), key) <= 0)
			low = i + 1;
		else
			high = i;
	}
	return low;
}

/* The index of the gap that key lies in, or count. */
static size_t find(const struct gaps *g, struct bytes key)
{
	size_t i = first_after(g, key);

	return i > 0 && is_before(key, &g->items[i - 1].end) ? i - 1 : g->count;
}

/* The least used one that is not items[keep]. */
static void make_room(struct gaps *g, size_t *keep)
{
	size_t least = *keep == 0, i;

	for (i = least; i < g->count; i++)
		if (i != *keep && g->items[i].used < g->items[least].used)
			least = i;
	take_out(g, least);
	if (least < *keep)
		--*keep;
}

/* A put of version key ends the gap items[i] that it lies in, and begins
 * another one behind it. Without memory for that there is none. */
static void cut(struct gaps *g, size_t i, struct bytes key)
{
	struct gap rest = g->items[i];
	int err;

	rest.start = (struct buf)BUF_INIT;
	err = buf_add_bytes(&rest.start, key);
	if (!err)
		err = buf_add(&rest.start, last_trailer, sizeof(last_trailer));
	/* It has its end from there, and that one a new one. */
	g->items[i].end = (struct buf)BUF_INIT;
	if (!err && is_before(buf_bytes(&rest.start), &rest.end)) {
		if (g->count == GAPS_MAX)
			make_room(g, &i);
		memmove(&g->items[i + 2], &g->items[i + 1],
			(g->count - i - 1) * sizeof(g->items[0]));
		g->items[i + 1] = rest;
		g->count++;
		atomic_fetch_add(&g->active, 1);
	} else {
		release_gap(&rest);
	}
	if (bytes_compare(buf_bytes(&g->items[i].start), key) >= 0 ||
	    buf_add_bytes(&g->items[i].end, key) < 0)
		take_out(g, i);
}

/* A put of version key shortens the runs under watch. */
static void cut_watches(struct gaps *g, struct bytes key)
{
	struct gap_watch *w;

	for (w = g->watches; w; w = w->next)
		if (!w->lost && bytes_compare(key, buf_bytes(&w->start)) >= 0 &&
		    is_before(key, &w->end) && buf_set(&w->end, key) < 0)
			w->lost = true;
}

void gaps_note_batch(struct gaps *g, const struct batch *b, uint64_t seq)
{
	struct batch_record record;
	size_t position = 0, i;

	/* First this, then that: who begins to watch does it the other way
	 * around, so that one of both sees the other. */
	atomic_store(&g->begun_seq, seq);
	if (atomic_load(&g->active) == 0)
		return;
	pthread_mutex_lock(&g->lock);
	while (batch_next(b, &position, &record)) {
		if (record.kind == BATCH_RANGE || record.kind == KEY_DELETE)
			continue;
		i = find(g, record.key);
		if (i < g->count)
			cut(g, i, record.key);
		cut_watches(g, record.key);
	}
	pthread_mutex_unlock(&g->lock);
}

void gap_run_release(struct gap_run *r)
{
	gap_run_drop(r);
	buf_release(&r->watch.start);
	buf_release(&r->watch.end);
	buf_release(&r->target);
}

/* Looks for a gap that key lies in, for this reader. Needs lock. */
static int look(struct gap_run *r, struct bytes key, struct bytes *target)
{
	struct gaps *g = r->gaps;
	size_t i = find(g, key);
	struct gap *gap;

	if (i == g->count)
		return 0;
	gap = &g->items[i];
	if (gap->seq > r->seq || gap->gc_time_us > r->gc_time_us ||
	    buf_set(&r->target, buf_bytes(&gap->end)) < 0)
		return 0;
	gap->used = ++g->uses;
	*target = buf_bytes(&r->target);
	return 1;
}

/* Needs lock. */
static void end_watch(struct gap_run *r)
{
	struct gap_watch **at = &r->gaps->watches;

	while (*at != &r->watch)
		at = &(*at)->next;
	*at = r->watch.next;
	atomic_fetch_sub(&r->gaps->active, 1);
	r->watched = 0;
}

/* Begins to watch from key on, unless there was a write since the reader's
 * moment: then it is too late. Needs lock. */
static void watch(struct gap_run *r, struct bytes key)
{
	struct gaps *g = r->gaps;

	if (key.size > GAP_KEY_MAX || buf_set(&r->watch.start, key) < 0)
		return;
	r->watch.end.size = 0;
	r->watch.lost = false;
	r->watch.next = g->watches;
	g->watches = &r->watch;
	atomic_fetch_add(&g->active, 1);
	r->watched = 1;
	r->late = atomic_load(&g->begun_seq) != r->seq;
	if (r->late)
		end_watch(r);
}

int gap_run_pass(struct gap_run *r, struct bytes key, struct bytes *target)
{
	int found = 0;

	if (!r->gaps)
		return 0;
	if (r->watched > 0)
		r->watched++;
	if (++r->steps % r->gaps->steps != 0)
		return 0;
	pthread_mutex_lock(&r->gaps->lock);
	if (r->gaps->rules == r->rules) {
		found = look(r, key, target);
		if (r->watched == 0 && !r->late)
			watch(r, key);
	}
	pthread_mutex_unlock(&r->gaps->lock);
	return found;
}

static void swap(struct buf *a, struct buf *b)
{
	struct buf c = *a;

	*a = *b;
	*b = c;
}

/* Joins what [start, end) overlaps or touches to it, and takes that out. */
static void join(struct gaps *g, struct gap *gap)
{
	struct bytes start = buf_bytes(&gap->start);
	size_t i = first_after(g, start);

	if (i > 0 && (is_before(start, &g->items[i - 1].end) ||
		      bytes_equal(start, buf_bytes(&g->items[i - 1].end))))
		i--;
	while (i < g->count) {
		struct gap *other = &g->items[i];

		if (!is_before(buf_bytes(&other->start), &gap->end) &&
		    !bytes_equal(buf_bytes(&other->start),
				 buf_bytes(&gap->end)))
			break;
		gap->seq = other->seq > gap->seq ? other->seq : gap->seq;
		if (other->gc_time_us > gap->gc_time_us)
			gap->gc_time_us = other->gc_time_us;
		if (bytes_compare(buf_bytes(&other->start),
				  buf_bytes(&gap->start)) < 0)
			swap(&other->start, &gap->start);
		if (gap->end.size > 0 &&
		    (other->end.size == 0 ||
		     bytes_compare(buf_bytes(&other->end),
				   buf_bytes(&gap->end)) > 0))
			swap(&other->end, &gap->end);
		take_out(g, i);
	}
}

/* Makes a gap of what was watched, up to next. Needs lock. */
static void add(struct gap_run *r, struct bytes next)
{
	struct gaps *g = r->gaps;
	struct gap gap = { .start = BUF_INIT,
			   .end = BUF_INIT,
			   .seq = r->seq,
			   .gc_time_us = r->gc_time_us,
			   .used = ++g->uses };
	size_t i = g->count;

	if (r->watch.lost || g->rules != r->rules)
		return;
	if (next.size > 0 && is_before(next, &r->watch.end) &&
	    buf_set(&r->watch.end, next) < 0)
		return;
	if (r->watch.end.size > GAP_KEY_MAX ||
	    !is_before(buf_bytes(&r->watch.start), &r->watch.end))
		return;
	swap(&gap.start, &r->watch.start);
	swap(&gap.end, &r->watch.end);
	join(g, &gap);
	i = g->count;
	if (i == GAPS_MAX)
		make_room(g, &i);
	i = first_after(g, buf_bytes(&gap.start));
	memmove(&g->items[i + 1], &g->items[i],
		(g->count - i) * sizeof(g->items[0]));
	g->items[i] = gap;
	g->count++;
	atomic_fetch_add(&g->active, 1);
}

void gap_run_end(struct gap_run *r, struct bytes next)
{
	unsigned int watched = r->watched;

	r->steps = 0;
	if (watched == 0)
		return;
	pthread_mutex_lock(&r->gaps->lock);
	end_watch(r);
	if (watched > GAP_STEPS_NOTED * r->gaps->steps)
		add(r, next);
	pthread_mutex_unlock(&r->gaps->lock);
}

void gap_run_drop(struct gap_run *r)
{
	r->steps = 0;
	if (r->watched == 0)
		return;
	pthread_mutex_lock(&r->gaps->lock);
	end_watch(r);
	pthread_mutex_unlock(&r->gaps->lock);
}
