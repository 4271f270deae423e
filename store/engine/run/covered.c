#include <assert.h>

#include "store/base/err.h"
#include "store/engine/compact/pick.h"
#include "store/engine/core/state.h"
#include "store/engine/core/trouble.h"
#include "store/engine/files/edit.h"
#include "store/engine/read/snapshot.h"
#include "store/engine/run/covered.h"
#include "store/engine/run/hold.h"
#include "store/engine/run/sync.h"
#include "store/format/key.h"
#include "store/format/sst/sst_iter.h"
#include "store/format/sst/sst_tombstones.h"

/*
 * A file goes as it is if a range tombstone newer than all that is in it covers
 * each of its keys, and every snapshot sees that one. What it deletes itself in
 * files below is deleted by the same tombstone, which stays until they are
 * merged with it. For the same reason a single entry that one covers may go,
 * and a file of which one covers a part be written anew without it. A file all
 * of which is of tables that were dropped goes, too. If a moment may see what
 * is in it, it goes over as a history file, as it is.
 */
/* A file is written anew for this part of it, or more. */
#define COVERED_SHARE 8
/* Of more range tombstones none is large, and to gather them takes memory. */
#define GATHERED_MAX 65536
/* So many files are read at one call to reckon what is covered of them. */
#define RECKONED_MAX 32

/* The oldest sequence that anyone reads at, or will. */
static uint64_t oldest_seq(struct engine *e)
{
	uint64_t seq;

	pthread_mutex_lock(&e->lock);
	seq = e->oldest ? e->oldest->seq : atomic_load(&e->visible_seq);
	pthread_mutex_unlock(&e->lock);
	return seq;
}

/* Adds those of f that everybody sees, as long as there is room for more. */
static int gather_file(const struct sst_file *f, uint64_t seq, size_t *room,
		       struct tombstone_pile *pile)
{
	struct tombstone_reader reader;
	const struct tombstone *t;
	int result = 0;

	tombstone_reader_init(&reader, f->sst);
	while (*room > 0 && (result = tombstone_reader_next(&reader, &t)) > 0) {
		if (t->seq > seq)
			continue;
		--*room;
		result = tombstone_pile_add(pile, t);
		if (result < 0)
			break;
	}
	tombstone_reader_release(&reader);
	return result < 0 ? result : 0;
}

/* The range tombstones of all files that everybody sees, as one list; of more
 * than GATHERED_MAX so many. What only the others cover stays as it is. */
static int gather(const struct version *v, uint64_t seq,
		  struct tombstone_list *out)
{
	struct tombstone_pile pile = { 0 };
	const struct tombstone *items;
	size_t room = GATHERED_MAX, i;
	unsigned int level;
	int err = 0;

	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count && err == 0; i++)
			err = gather_file(v->levels[level].files[i], seq, &room,
					  &pile);
	if (err == 0) {
		items = tombstone_pile_take(&pile, &i);
		err = tombstone_fragment(items, i, NULL, 0, out);
	}
	tombstone_pile_release(&pile);
	return err;
}

/* The first fragment that ends after f begins, or count; ends ascend. */
static size_t first_over(const struct tombstone_list *list,
			 const struct sst_file *f)
{
	size_t low = 0, high = list->count, i;

	while (low < high) {
		i = low + (high - low) / 2;
		if (bytes_compare(list->items[i].end, f->smallest) <= 0)
			low = i + 1;
		else
			high = i;
	}
	return low;
}

/* Whether fragments without a gap between them, all newer than f, begin before
 * f does and end after it. */
static bool is_covered(const struct tombstone_list *list,
		       const struct sst_file *f)
{
	struct bytes at = f->smallest;
	size_t i;
	int order;

	for (i = first_over(list, f); i < list->count; i++) {
		const struct tombstone *t = &list->items[i];

		if (bytes_compare(t->start, at) > 0 || t->seq <= f->largest_seq)
			return false;
		order = bytes_compare(t->end, f->largest);
		if (order > 0 || (order == 0 && f->largest_exclusive))
			return true;
		at = t->end;
	}
	return false;
}

/* The greatest sequence of the fragments that overlap f; 0 if none does. */
static uint64_t newest_over(const struct tombstone_list *list,
			    const struct sst_file *f)
{
	uint64_t seq = 0;
	size_t i;

	for (i = first_over(list, f); i < list->count; i++) {
		if (bytes_compare(list->items[i].start, f->largest) > 0)
			break;
		if (list->items[i].seq > seq)
			seq = list->items[i].seq;
	}
	return seq;
}

/* Reckons how many bytes stay of f without the entries that the list covers, 0
 * if that is nothing at all, by reading all of it. Needs work. */
static int reckon_rest(const struct tombstone_list *list, struct sst_file *f)
{
	uint64_t all = 1, covered = 0, size;
	struct tombstone span;
	struct iter *it;
	int err = sst_iter_new(f->sst, false, &it), at;
	bool known = false;
	/* Its range tombstones stay. */
	bool all_covered = sst_properties(f->sst)->tombstone_count == 0;

	if (err < 0)
		return err;
	for (at = iter_seek(it, BYTES_NONE); at > 0; at = iter_next(it)) {
		if (!known || (span.end.size > 0 &&
			       bytes_compare(it->key, span.end) >= 0))
			tombstone_cover(list, it->key, UINT64_MAX, &span);
		known = true;
		size = it->key.size + it->value.size;
		all += size;
		/* Of a bulk load the entries' own sequence is 0. */
		if (span.seq > key_seq(it->key) && span.seq > f->seq)
			covered += size;
		else
			all_covered = false;
	}
	iter_close(it);
	f->rest_size =
		all_covered
			? 0
			: f->size - (uint64_t)((double)sst_properties(f->sst)
						       ->data_size *
					       (double)covered / (double)all);
	return at;
}

/* Whether an sst of so many bytes fits a piece that is always held. */
static bool is_small(struct engine *e, uint64_t size)
{
	return size <= engine_small_arena(e);
}

bool engine_fits_piece(struct engine *e, const struct compaction *c)
{
	return c->above.count > 0 && is_small(e, c->rest_size) &&
	       c->inputs[0][0]->size >= engine_sst_room(c->rest_size) &&
	       atomic_load(&e->owner.obsolete_size) == 0;
}

/* Whether writing f anew is worth while and there may be room for it. */
static bool is_worth(struct engine *e, const struct sst_file *f,
		     uint64_t available_size)
{
	uint64_t room = engine_sst_room(f->rest_size);

	return f->size - f->rest_size >= f->size / COVERED_SHARE &&
	       (room <= available_size ||
		(is_small(e, f->rest_size) && f->size >= room));
}

/* Whether what stays of f is not known yet, or no more. */
static bool is_unreckoned(const struct tombstone_list *list,
			  const struct sst_file *f)
{
	uint64_t seq = newest_over(list, f);

	return seq > f->smallest_seq && f->rest_seq != seq &&
	       !is_covered(list, f);
}

/* Reckons what stays of some files of v: 0 if it is known of all then, 1 if
 * not, or an error. Needs work. */
static int reckon(const struct tombstone_list *list, struct version *v)
{
	unsigned int budget = RECKONED_MAX, level;
	size_t i;
	int err;

	for (level = LEVEL_COUNT; level-- > 0 && list->count > 0;)
		for (i = 0; i < v->levels[level].count; i++) {
			struct sst_file *f = v->levels[level].files[i];

			if (!is_unreckoned(list, f))
				continue;
			if (budget-- == 0)
				return 1;
			err = reckon_rest(list, f);
			if (err < 0)
				return err;
			f->rest_seq = newest_over(list, f);
		}
	return 0;
}

/* Whether all of f, its range tombstones included, is of tables that were
 * dropped, and that no snapshot has. */
static bool is_of_dropped(const struct rules_seen *rules,
			  const struct sst_file *f)
{
	size_t i;

	if (!rules->items[0] || f->smallest.size < KEY_TABLE_SIZE ||
	    f->largest.size < KEY_TABLE_SIZE)
		return false;
	for (i = 0; i < rules->count; i++)
		if (gc_rules_first(rules->items[i], key_table(f->smallest),
				   key_table(f->largest)))
			return false;
	return true;
}

/* Whether the list covers each entry of f, which has nothing else. */
static bool is_dead(const struct tombstone_list *list, const struct sst_file *f)
{
	return (f->rest_size == 0 && f->rest_seq > 0 &&
		f->rest_seq == newest_over(list, f)) ||
	       is_covered(list, f);
}

/* What is dropped, of files that nobody sees by what is not in the past. */
struct dropping {
	struct edit edit;
	struct moments *history; /* owned */
	uint64_t visible_seq;    /* after rules and tombstones were taken */
};

static void take_past(struct engine *e, struct dropping *d)
{
	pthread_mutex_lock(&e->lock);
	d->history = moments_get(e->moments);
	d->visible_seq = atomic_load(&e->visible_seq);
	pthread_mutex_unlock(&e->lock);
}

/* Takes f out, as a history file if a moment may see it. From newer on a range
 * tombstone hides all of it; 0: its table was dropped, nobody knows when. */
static int drop_file(struct dropping *d, unsigned int level,
		     const struct sst_file *f, uint64_t newer)
{
	const struct moment *x;
	struct past_facts facts;
	int err = edit_remove_file(&d->edit, level, f->id);

	x = moment_from(d->history->items, d->history->count, f->smallest_seq);
	if (err < 0 || !x || (newer > 0 && newer <= x->seq))
		return err;
	past_facts_of(f->sst, f->id, f->size, f->seq, d->visible_seq, &facts);
	return edit_add_past(&d->edit, &facts);
}

/* Drops the files of which nobody sees anything, at once: 1 if there were some,
 * 0 if not, or an error; why is told. Needs work. */
static int drop_dead(struct engine *e, const struct rules_seen *rules,
		     const struct tombstone_list *list, struct version *v,
		     const char *why)
{
	struct dropping d = { .edit = EDIT_INIT };
	bool ruled = false;
	unsigned int level;
	size_t i;
	int err = 0;

	take_past(e, &d);
	for (level = 0; level < LEVEL_COUNT; level++)
		for (i = 0; i < v->levels[level].count && err == 0; i++) {
			struct sst_file *f = v->levels[level].files[i];
			bool dropped = is_of_dropped(rules, f);

			ruled |= dropped;
			if (dropped || is_dead(list, f))
				err = drop_file(&d, level, f,
						dropped ? 0
							: newest_over(list, f));
		}
	/* That the table was dropped is durable before what it had goes, and so
	 * is what is visible, see sync_history of unit.c. */
	if (err == 0 && (ruled || d.edit.past_count > 0))
		err = engine_sync(e);
	if (err == 0 && d.edit.removed_count > 0) {
		err = engine_apply(e, &d.edit);
		if (err == 0) {
			engine_work_done(e);
			event_add(&e->events, EVENTS_MAIN,
				  "dropped due=%s ssts=%zu", why,
				  d.edit.removed_count);
			err = 1;
		}
	}
	edit_release(&d.edit);
	moments_put(d.history);
	return err;
}

/* Fills out with f, of this level, if it is to be written anew: 1, 0 if not, or
 * an error. Needs work. */
static int choose(struct engine *e, const struct tombstone_list *list,
		  unsigned int level, struct sst_file *f,
		  struct compaction *out)
{
	uint64_t seq = newest_over(list, f);
	struct volume_space space;
	int err;

	if (seq <= f->smallest_seq || f->rest_seq != seq)
		return 0;
	err = e->volume->ops->space(e->volume, &space);
	if (err < 0 || !is_worth(e, f, space.available_size))
		return err;
	*out = (struct compaction){ .level = level,
				    .output_level = level,
				    .rest_size = f->rest_size };
	err = compact_add_input(out, 0, f);
	return err < 0 ? err : 1;
}

int engine_free_covered(struct engine *e, struct version *v, bool *more,
			struct compaction *out)
{
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	struct rules_seen rules;
	unsigned int level;
	size_t i;
	int err;

	*out = (struct compaction){ 0 };
	*more = false;
	/* After v: a table that v has data of and these lack was dropped. */
	err = rules_seen_take(e, &rules);
	if (err < 0)
		return err;
	if (v->tombstone_count > 0)
		err = gather(v, oldest_seq(e), &list);
	if (err == 0)
		err = reckon(&list, v);
	*more = err == 1;
	if (err >= 0)
		err = drop_dead(e, &rules, &list, v, "room");
	if (err > 0) {
		*more = true;
		err = 0;
	} else {
		for (level = LEVEL_COUNT; level-- > 0 && list.count > 0;)
			for (i = 0; i < v->levels[level].count && err == 0; i++)
				err = choose(e, &list, level,
					     v->levels[level].files[i], out);
	}
	rules_seen_release(&rules);
	if (err == 1)
		out->above = list;
	else
		tombstone_list_release(&list);
	return err;
}

/* Whether v was looked at by these rules and for this oldest reader; from now
 * on it was. What the tombstones of v cover does not change by itself. */
static bool was_looked_at(struct version *v, const struct rules_seen *rules,
			  uint64_t seq)
{
	bool was = v->looked_seq == seq && v->looked_turn == rules->turn;

	v->looked_seq = seq;
	v->looked_turn = rules->turn;
	return was;
}

int engine_drop_covered(struct engine *e, struct version *v)
{
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	uint64_t seq = oldest_seq(e), newest = version_largest_seq(v);
	struct rules_seen rules;
	int err = rules_seen_take(e, &rules);

	if (err < 0)
		return err;

	/* No tombstone of v is newer than that. */
	if (was_looked_at(v, &rules, seq < newest ? seq : newest))
		goto put_rules;
	if (v->tombstone_count > 0 && v->tombstone_count <= GATHERED_MAX)
		err = gather(v, seq, &list);
	if (err == 0)
		err = drop_dead(e, &rules, &list, v, "dead");
put_rules:
	rules_seen_release(&rules);
	tombstone_list_release(&list);
	return err;
}
