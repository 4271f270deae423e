#include <assert.h>
#include <stdlib.h>

#include "store/base/err.h"
#include "store/engine/core/event_log.h"
#include "store/engine/core/history.h"
#include "store/engine/files/edit.h"

/* Of a store that is written to, the manifest has a moment of each minute, so
 * that no more than that is lost of what is durable. */
#define TOLD_US UINT64_C(60000000)
/* Of the disk; with less that is free, the oldest history goes. */
#define FREE_SHARE 10
/* Where the cap is what the tree had, no less than this: what memtables and
 * their large values have is in no tree yet. */
#define CAP_MIN (UINT64_C(256) << 20)

/* GC time may go on by so much more than the time does, and by a thousandth of
 * it, as a clock does that is being corrected; or stand for so long. */
#define SLACK_US UINT64_C(5000000)
#define SLACK_SHARE 1000

/* 0 of a clock that has no such time beside it. */
static uint64_t steady_us(const struct engine *e)
{
	return e->options.steady ? clock_now(e->options.steady) : 0;
}

/* The clock is before moments of m, with none for a while, and so it was ahead
 * when the first of them was noted: from the one before on nobody knows what
 * was there. If it was right then and is behind now, what is not answered by
 * this is little, and only until the next opening. */
static void find_ahead(struct moments *m, uint64_t now_us)
{
	const struct moment *before = moments_at(m, now_us);
	struct moment *at;

	if (!before || before == &m->items[m->count - 1])
		return;
	at = m->items + (before - m->items);
	if (at[1].time_us <= now_us + SLACK_US)
		return;
	at->until_us = 0;
	at[1].flags |= MOMENT_AFTER_GAP;
}

int history_read(struct engine *e, const struct manifest *m,
		 struct moments **out)
{
	int err = moments_new(m->moments, m->moment_count, out);

	if (err == 0)
		find_ahead(*out, clock_now(e->options.clock));
	return err;
}

int history_begin(struct engine *e)
{
	const struct manifest *m = e->manifest;
	uint64_t now_us;

	e->noted_us = steady_us(e);
	/* What is replayed may have been written in this one. */
	now_us = clock_now(e->options.clock);
	atomic_store(&e->second_us, now_us - now_us % HISTORY_SECOND);
	if (m->moment_count > 0)
		e->told_us = m->moments[m->moment_count - 1].time_us;
	/* What came after the last flush may have been read at a later one. */
	if (e->told_us > e->gc_time_us)
		e->gc_time_us = e->told_us;
	e->merged_us = e->gc_time_us;
	return history_read(e, m, &e->moments);
}

void history_recovered(struct engine *e)
{
	const struct moments *m = e->moments;

	e->is_recovered = true;
	if (m && m->count > 0 && e->written_seq > m->items[m->count - 1].seq)
		e->moment_flags = MOMENT_AFTER_GAP;
}

/* Sequences of moments that are read at, to be freed: *count of them. Needs
 * lock. */
static int take_held(const struct engine *e, uint64_t **out, size_t *count)
{
	const struct engine_snapshot *s;

	*count = 0;
	*out = NULL;
	for (s = e->past; s; s = s->newer)
		++*count;
	if (*count == 0)
		return 0;
	*out = malloc(*count * sizeof(**out));
	if (!*out)
		return -ENOMEM;
	*count = 0;
	for (s = e->past; s; s = s->newer)
		(*out)[(*count)++] = s->seq;
	return 0;
}

/* With its large values. */
static uint64_t tree_size(const struct version *v)
{
	uint64_t size = 0;
	unsigned int i;
	size_t j;

	for (i = 0; i < LEVEL_COUNT; i++) {
		size += v->levels[i].size;
		for (j = 0; j < v->levels[i].count; j++)
			size += sst_file_blob_size(v->levels[i].files[j]);
	}
	return size;
}

/* Whether GC time has gone on further since it was seen than the time has. */
static bool has_jumped(const struct clock_seen *seen, uint64_t time_us,
		       uint64_t steady)
{
	uint64_t passed = steady - seen->steady_us;

	return seen->steady_us > 0 &&
	       time_us - seen->time_us >
		       passed + passed / SLACK_SHARE + SLACK_US;
}

/* Nobody knows when what came after the last moment was written, if the clock
 * was set forward since, or back, so that GC time stands and nothing is noted
 * until it has caught up: that is a gap. Needs lock. */
static void look_at_clock(struct engine *e, const struct moment *last,
			  const struct moment *now)
{
	struct clock_seen *seen = &e->seen;
	uint64_t steady = steady_us(e);

	/* When it is let go on, it goes on by all that has passed. */
	if (steady == 0 || e->gc_time_held > 0)
		return;
	if (has_jumped(seen, now->time_us, steady))
		e->moment_flags |= MOMENT_AFTER_GAP;
	seen->time_us = now->time_us;
	seen->steady_us = steady;
	if (!last || now->seq == last->seq || now->time_us > last->time_us)
		seen->stuck_us = 0;
	else if (seen->stuck_us == 0)
		seen->stuck_us = steady;
	else if (steady - seen->stuck_us > SLACK_US)
		e->moment_flags |= MOMENT_AFTER_GAP;
}

/* Which moments are noted: of the beginning of this second alone, if that may
 * be (TURN), or also the present one, where this second has none (TICK) or in
 * any case (NOTE). */
enum note { TURN, TICK, NOTE };

/* Sets now, which is the present, to the beginning of its second if what there
 * is was there then: whether it did. GC time may be ahead of the clock, which
 * tells when the last commit was. Needs lock. */
static bool go_back(struct engine *e, struct moment *now)
{
	uint64_t second = now->time_us - now->time_us % HISTORY_SECOND;

	if (atomic_load(&e->second_us) >= second || e->merged_us > second ||
	    clock_now(e->options.clock) < second)
		return false;
	now->time_us = second;
	return true;
}

/* Whether now is to be noted, and as of which time. Needs lock. */
static bool is_fresh(struct engine *e, const struct moment *last,
		     enum note note, struct moment *now)
{
	uint64_t second = now->time_us - now->time_us % HISTORY_SECOND;
	bool whole = go_back(e, now);

	if (!whole &&
	    (note == TURN || (note == TICK && last && last->time_us >= second)))
		return false;
	return !last || (now->seq > last->seq && now->time_us > last->time_us);
}

/* The list after that of now, when the tree has so many bytes. Needs lock. */
static int next_moments(struct engine *e, uint64_t size, enum note note,
			struct moments **out)
{
	struct moments *m = e->moments;
	const struct moment *last =
		m->count > 0 ? &m->items[m->count - 1] : NULL;
	uint64_t time_us = engine_gc_time(e);
	struct moment now = { time_us, atomic_load(&e->visible_seq), size, 0,
			      0 };
	uint64_t *held;
	size_t count;
	bool fresh;
	int err = take_held(e, &held, &count);

	if (err < 0)
		return err;
	look_at_clock(e, last, &now);
	fresh = is_fresh(e, last, note, &now);
	now.flags = last ? e->moment_flags : 0;
	err = moments_next(m, fresh ? &now : NULL, time_us,
			   steady_us(e) - e->noted_us,
			   atomic_load(&e->history_us), held, count, out);
	free(held);
	if (err == 0 && fresh) {
		e->moment_flags = 0;
		e->noted_us = steady_us(e);
	}
	return err;
}

/* Whether the manifest lacks a moment of the last minute that may be in it.
 * Needs lock. */
static bool is_untold(const struct engine *e)
{
	const struct moments *m = e->moments;
	uint64_t synced = atomic_load(&e->synced_seq);
	size_t i = m ? m->count : 0;

	while (i > 0 && m->items[i - 1].seq > synced)
		i--;
	return i > 0 && m->items[i - 1].time_us >= e->told_us + TOLD_US;
}

int history_forget(struct engine *e, uint64_t seq)
{
	struct engine_snapshot *s;
	struct moments *old, *next;
	size_t i = 0;
	int err;

	pthread_mutex_lock(&e->lock);
	old = e->moments;
	while (i < old->count && old->items[i].seq <= seq)
		i++;
	err = moments_new(old->items + i, old->count - i, &next);
	if (err == 0) {
		next->outlived = old->outlived > i ? old->outlived - i : 0;
		e->moments = next;
	}
	for (s = e->past; s && err == 0; s = s->newer)
		s->gone |= s->seq <= seq;
	pthread_mutex_unlock(&e->lock);
	if (err == 0)
		moments_put(old);
	return err;
}

/* There is to be no history. */
static int forget_all(struct engine *e)
{
	bool any;

	pthread_mutex_lock(&e->lock);
	any = e->moments->count > 0 || e->version->past_count > 0;
	pthread_mutex_unlock(&e->lock);
	if (!any)
		return 0;
	atomic_store(&e->history_wanted, true);
	return history_forget(e, UINT64_MAX);
}

void history_keep(struct engine *e, uint64_t keep_us, uint64_t size)
{
	atomic_store(&e->history_us, keep_us);
	atomic_store(&e->history_size, size);
	/* Without memory the next second does it. */
	if (history_note(e) < 0)
		err_clear();
}

static int note_moment(struct engine *e, enum note note)
{
	struct moments *old = NULL;
	struct version *v;
	uint64_t size;
	int err;

	if (e->options.read_only)
		return 0;
	if (atomic_load(&e->history_us) == 0)
		return forget_all(e);
	v = engine_version(e);
	size = tree_size(v);
	version_put(v);
	pthread_mutex_lock(&e->lock);
	err = next_moments(e, size, note, &old);
	if (err == 0) {
		struct moments *next = old;

		old = e->moments;
		e->moments = next;
		/* Space may have become short, too. */
		if (e->version->past_count > 0 || is_untold(e))
			atomic_store(&e->history_wanted, true);
	}
	pthread_mutex_unlock(&e->lock);
	moments_put(old);
	return err;
}

int history_note(struct engine *e)
{
	return note_moment(e, NOTE);
}

int history_tick(struct engine *e)
{
	/* Without a background whoever ticks says when. */
	return note_moment(e, e->wake ? TICK : NOTE);
}

void history_turn(struct engine *e, uint64_t now_us)
{
	uint64_t seq;

	if (e->options.read_only || atomic_load(&e->history_us) == 0 ||
	    now_us - atomic_load(&e->second_us) < HISTORY_SECOND)
		return;
	pthread_mutex_lock(&e->lock);
	seq = e->moments->count > 0
		      ? e->moments->items[e->moments->count - 1].seq
		      : UINT64_MAX;
	pthread_mutex_unlock(&e->lock);
	if (seq != atomic_load(&e->visible_seq) && note_moment(e, TURN) < 0)
		err_clear();
}

/* The time of the oldest moment; 0 if there is none. */
static uint64_t oldest_time(struct engine *e)
{
	const struct moment *oldest;
	uint64_t time_us;

	pthread_mutex_lock(&e->lock);
	oldest = moments_oldest(e->moments);
	time_us = oldest ? oldest->time_us : 0;
	pthread_mutex_unlock(&e->lock);
	return time_us;
}

/* Those from before_us to since_us, 0: to now. */
static void note_lost(struct engine *e, uint64_t before_us, uint64_t since_us)
{
	pthread_mutex_lock(&e->lock);
	if (e->lost.until_us == 0)
		e->lost.from_us = before_us;
	e->lost.until_us = since_us > 0 ? since_us : engine_gc_time(e);
	pthread_mutex_unlock(&e->lock);
	event_add(&e->events, EVENTS_ERRORS,
		  "history_lost before_us=%llu since_us=%llu",
		  (unsigned long long)before_us, (unsigned long long)since_us);
}

int history_give_up(struct engine *e, uint64_t seq)
{
	uint64_t before_us = oldest_time(e), since_us;
	int err = history_forget(e, seq);

	since_us = oldest_time(e);
	if (err == 0 && since_us != before_us)
		note_lost(e, before_us, since_us);
	return err;
}

/* Of a blob file that was ended all that the tree leaves of it, if history has
 * any: both may refer to the same, and what neither does stays with it. */
uint64_t history_large_size(const struct version *v)
{
	uint64_t *past = malloc(2 * (v->blob_count + 1) * sizeof(*past));
	uint64_t *live = past ? past + v->blob_count : NULL, all = 0;
	size_t i;

	if (!past)
		return 0;
	version_blob_past(v, past);
	version_blob_live(v, live);
	for (i = 0; i < v->blob_count; i++) {
		uint64_t tree = live[i] - past[i];
		/* 0 for the one that grows. */
		uint64_t size = atomic_load(&v->blobs[i]->size);
		uint64_t rest = size > tree ? size - tree : 0;

		all += size > 0 && past[i] > 0 ? rest : past[i];
	}
	free(past);
	return all;
}

uint64_t history_size(const struct version *v)
{
	uint64_t size = v->blob_count > 0 ? history_large_size(v) : 0;
	size_t i;

	for (i = 0; i < v->past_count; i++)
		size += v->pasts[i]->facts->size;
	return size;
}

/* The least visible_seq of a file that is after seq; UINT64_MAX if none is. */
static uint64_t next_visible(const struct version *v, uint64_t seq)
{
	uint64_t least = UINT64_MAX;
	size_t i;

	for (i = 0; i < v->past_count; i++) {
		uint64_t visible = v->pasts[i]->facts->visible_seq;

		if (visible > seq && visible < least)
			least = visible;
	}
	return least;
}

/* What giving up history gives back of a blob file: its room comes back when no
 * history file refers to it, and all but what the tree has in it. */
struct blob_rest {
	uint64_t bytes;
	size_t past_count; /* history files that refer to it */
};

/* One of each blob file of v, in their order, and one more for those that it
 * lacks, to be freed; NULL without memory. The one that grows gives back
 * nothing. */
static struct blob_rest *blob_rests(const struct version *v)
{
	struct blob_rest *rests = calloc(v->blob_count + 1, sizeof(*rests));
	uint64_t *past = malloc(2 * (v->blob_count + 1) * sizeof(*past));
	uint64_t *live = past ? past + v->blob_count : NULL, size, tree;
	size_t i, j;

	if (!rests || !past) {
		free(rests);
		free(past);
		return NULL;
	}
	version_blob_past(v, past);
	version_blob_live(v, live);
	for (i = 0; i < v->blob_count; i++) {
		size = atomic_load(&v->blobs[i]->size);
		tree = live[i] - past[i];
		rests[i].bytes = size > tree ? size - tree : 0;
	}
	free(past);
	for (i = 0; i < v->past_count; i++) {
		const struct past_facts *f = v->pasts[i]->facts;

		for (j = 0; j < f->blob_count; j++)
			rests[version_blob_index(v, f->blobs[j].file)]
				.past_count++;
	}
	return rests;
}

/* What goes with f, and what that gives back. */
static uint64_t give_back(struct blob_rest *rests, const struct version *v,
			  const struct past_facts *f)
{
	uint64_t size = f->size;
	size_t i;

	for (i = 0; i < f->blob_count; i++) {
		struct blob_rest *rest =
			&rests[version_blob_index(v, f->blobs[i].file)];

		if (--rest->past_count == 0)
			size += rest->bytes;
	}
	return size;
}

/* Of all files with this visible_seq, of which there are so many. */
static uint64_t give_back_at(struct blob_rest *rests, const struct version *v,
			     uint64_t visible_seq, size_t *count)
{
	uint64_t size = 0;
	size_t i;

	*count = 0;
	for (i = 0; i < v->past_count; i++) {
		if (v->pasts[i]->facts->visible_seq != visible_seq)
			continue;
		++*count;
		size += give_back(rests, v, v->pasts[i]->facts);
	}
	return size;
}

/* What history files may take. */
static uint64_t cap(const struct engine *e, const struct moments *m)
{
	uint64_t most = CAP_MIN;
	size_t i;

	if (atomic_load(&e->history_size) > 0)
		return atomic_load(&e->history_size);
	for (i = 0; i < m->count; i++)
		if (m->items[i].size > most)
			most = m->items[i].size;
	return most;
}

/* The moments up to *seq are to go, so that so many files go, and such that
 * give back so many bytes, the oldest first; or all before limit if that is not
 * enough. 0 or -ENOMEM. */
static int find_excess(const struct version *v, uint64_t bytes, size_t files,
		       uint64_t limit, uint64_t *seq)
{
	uint64_t at = next_visible(v, 0), freed = 0;
	struct blob_rest *rests;
	size_t gone = 0, count;

	if (bytes == 0 && files == 0)
		return 0;
	rests = blob_rests(v);
	if (!rests)
		return -ENOMEM;
	while ((freed < bytes || gone < files) && at < limit) {
		freed += give_back_at(rests, v, at, &count);
		gone += count;
		*seq = at > *seq ? at : *seq;
		at = next_visible(v, at);
	}
	free(rests);
	return 0;
}

/* Bytes of blob files that come back by themselves: what is garbage in those
 * that history has nothing of, if it is enough to be looked for. */
static uint64_t coming_back(const struct version *v)
{
	struct blob_rest *rests = v->blob_count > 0 ? blob_rests(v) : NULL;
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; rests && i < v->blob_count; i++)
		if (rests[i].past_count == 0 &&
		    rests[i].bytes >= atomic_load(&v->blobs[i]->size) / 16)
			bytes += rests[i].bytes;
	free(rests);
	return bytes;
}

/* What have lacks of the share of all that is to be free. */
static uint64_t missing_of(uint64_t all, uint64_t have)
{
	uint64_t want = all / FREE_SHARE;

	return have < want ? want - have : 0;
}

/* How many bytes less history is to have for the sake of space, of the disk,
 * where what is obsolete or garbage is free soon, or of the quota. */
static int missing_space(struct engine *e, const struct version *v,
			 uint64_t *bytes)
{
	uint64_t quota = atomic_load(&e->quota), used = 0, have, missing;
	struct volume_space space;
	int err = e->volume->ops->space(e->volume, &space);

	*bytes = 0;
	if (err < 0)
		return err;
	have = space.available_size + atomic_load(&e->owner.obsolete_size);
	*bytes = missing_of(space.total_size, have);
	if (*bytes > 0)
		*bytes = missing_of(space.total_size, have + coming_back(v));
	if (quota > 0)
		used = tree_size(v) + history_size(v);
	missing = missing_of(quota, used < quota ? quota - used : 0);
	if (missing > *bytes)
		*bytes = missing;
	return 0;
}

bool history_has_no_room(struct engine *e)
{
	struct version *v = engine_version(e);
	uint64_t missing = 0;

	if (v->past_count == 0 && missing_space(e, v, &missing) < 0)
		err_clear();
	version_put(v);
	return missing > 0;
}

/* Whether any file of v is of no moment. */
static bool has_unwanted(const struct version *v, const struct moments *m)
{
	return next_visible(v, 0) < moments_first(m);
}

/* The sequence of the oldest moment that is being read; UINT64_MAX if none is.
 */
static uint64_t oldest_held(struct engine *e)
{
	const struct engine_snapshot *s;
	uint64_t oldest = UINT64_MAX;

	pthread_mutex_lock(&e->lock);
	for (s = e->past; s; s = s->newer)
		if (!s->gone && s->seq < oldest)
			oldest = s->seq;
	pthread_mutex_unlock(&e->lock);
	return oldest;
}

/* Gives up what is too much, with v and m of now: whether files are to go, or
 * an error. */
static int give_up(struct engine *e, const struct version *v,
		   const struct moments *m)
{
	uint64_t size = history_size(v), most = cap(e, m), seq = 0, missing;
	int err = missing_space(e, v, &missing);
	uint64_t asked = atomic_exchange(&e->history_asked, 0);
	bool is_short = missing > 0 || asked > 0;

	if (err < 0)
		return err;
	if (asked > missing)
		missing = asked;
	/* Who brings much back makes much history, and must not lose by that
	 * what is being brought back. */
	if (size > most)
		err = find_excess(v, size - most, 0, oldest_held(e), &seq);
	if (err == 0)
		err = find_excess(v, missing,
				  v->past_count > HISTORY_FILES_MAX
					  ? v->past_count - HISTORY_FILES_MAX
					  : 0,
				  UINT64_MAX, &seq);
	if (err < 0)
		return err;
	if (seq == 0)
		return has_unwanted(v, m);
	err = is_short ? history_give_up(e, seq) : history_forget(e, seq);
	return err < 0 ? err : 1;
}

int history_trim(struct engine *e)
{
	struct edit edit = EDIT_INIT;
	struct version *v;
	struct moments *m;
	bool untold;
	int err;

	pthread_mutex_lock(&e->lock);
	v = version_get(e->version);
	m = moments_get(e->moments);
	untold = is_untold(e);
	pthread_mutex_unlock(&e->lock);
	err = v->past_count > 0 ? give_up(e, v, m) : 0;
	if (err == 0 && untold)
		err = 1;
	moments_put(m);
	if (err > 0) {
		/* What goes is said by history_complete. */
		err = engine_apply(e, &edit);
		if (err == 0 && edit.dropped_past_count > 0)
			event_add(&e->events, EVENTS_MAIN,
				  "history_dropped ssts=%zu",
				  edit.dropped_past_count);
		if (err == 0)
			err = 1;
	}
	version_put(v);
	edit_release(&edit);
	return err;
}
