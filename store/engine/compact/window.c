#include <errno.h>
#include <stdlib.h>

#include "store/engine/compact/window.h"
#include "store/format/sst/sst_tombstones.h"

/*
 * A window ends where some input's next piece starts, so that of each input it
 * takes a piece or two. Inputs give their tombstones in order; those of equal
 * bounds, which come one after the other, are looked at again in the next
 * window if they reach into it.
 */

struct window_source {
	struct tombstone_reader reader;
	const struct tombstone *t; /* the next one; NULL: there is none */
};

static int step(struct window_source *s)
{
	int result = tombstone_reader_next(&s->reader, &s->t);

	if (result <= 0)
		s->t = NULL;
	return result < 0 ? result : 0;
}

int window_init(struct window *w, const struct merge_context *context,
		const struct compaction *compaction)
{
	size_t i,
		count = compaction->input_count[0] + compaction->input_count[1];
	int side, err = 0;

	*w = (struct window){ .context = context };
	/* One more, since malloc(0) may be NULL. */
	w->sources = calloc(count + 1, sizeof(*w->sources));
	if (!w->sources)
		return -ENOMEM;
	for (side = 0; side < 2; side++)
		for (i = 0; !err && i < compaction->input_count[side]; i++) {
			struct sst *t = compaction->inputs[side][i]->sst;

			if (sst_properties(t)->tombstone_count == 0)
				continue;
			tombstone_reader_init(&w->sources[w->count].reader, t);
			err = step(&w->sources[w->count++]);
		}
	return err;
}

void window_init_memtable(struct window *w, const struct merge_context *context,
			  struct memtable *m)
{
	*w = (struct window){ .context = context, .memtable = m };
}

/* The least start of a source's piece after so many more that the window's own
 * start lies before, cut to the row that it is in; empty if there is none. */
static struct bytes find_end(const struct window *w, size_t pieces)
{
	struct bytes least = BYTES_NONE, start;
	size_t i, row_end;

	for (i = 0; i < w->count; i++) {
		start = tombstone_reader_ahead(&w->sources[i].reader, pieces);
		if (start.size > 0 && w->sources[i].t &&
		    (least.size == 0 || bytes_compare(start, least) < 0))
			least = start;
	}
	row_end = least.size > 0 ? key_row_end(least) : 0;
	return row_end > 0 ? bytes_of(least.data, row_end) : least;
}

/* Adds what lies in the window, without what reaches out of it. */
static int add(struct window *w, const struct tombstone *t)
{
	struct tombstone part = *t;

	if (bytes_compare(part.start, buf_bytes(&w->start)) < 0)
		part.start = buf_bytes(&w->start);
	if (w->end.size > 0 && bytes_compare(part.end, buf_bytes(&w->end)) > 0)
		part.end = buf_bytes(&w->end);
	return bytes_compare(part.start, part.end) < 0
		       ? tombstone_pile_add(&w->pile, &part)
		       : 0;
}

/* All that s has in the window; s is then at the first that reaches out of it.
 * Others do not overlap that one, but for those of equal bounds behind it. */
static int collect(struct window *w, struct window_source *s)
{
	struct bytes end = buf_bytes(&w->end);
	const struct tombstone_list *list;
	size_t i;
	int err = 0;

	while (err == 0 && s->t &&
	       (end.size == 0 || bytes_compare(s->t->end, end) <= 0)) {
		err = add(w, s->t);
		if (err == 0)
			err = step(s);
	}
	if (err < 0 || !s->t || bytes_compare(s->t->start, end) >= 0)
		return err;
	list = s->reader.list;
	for (i = s->reader.next - 1;
	     i < list->count && err == 0 &&
	     bytes_equal(list->items[i].start, s->t->start);
	     i++)
		err = add(w, &list->items[i]);
	return err;
}

/* A memtable gives one tombstone at a time, at the least, for so many bytes of
 * its arena: 1,024 for one of 32 MiB. */
#define ARENA_PART ((size_t)32 << 10)

/* Who may look past a tombstone to another: *count of them. */
static const uint64_t *readers(const struct merge_context *c, size_t *count)
{
	*count = c->history_count > 0 ? c->reader_count : c->snapshot_count;
	return c->history_count > 0 ? c->readers : c->snapshots;
}

static int next_of_memtable(struct window *w)
{
	struct bytes end;
	size_t count;
	const uint64_t *seqs = readers(w->context, &count);
	int err = memtable_tombstones_part(w->memtable, seqs, count,
					   w->memtable->arena.size / ARENA_PART,
					   &w->place, &end, &w->list);

	return err < 0 ? err : buf_set(&w->end, end);
}

int window_next(struct window *w)
{
	const struct tombstone *items;
	size_t pieces = 1, count, seq_count, i;
	const uint64_t *seqs;
	struct bytes end;
	int err;

	tombstone_list_release(&w->list);
	if (w->memtable)
		return next_of_memtable(w);
	err = buf_set(&w->start, buf_bytes(&w->end));
	/* A row may have more than a piece: then of two, and so on. */
	do {
		end = find_end(w, pieces++);
	} while (end.size > 0 && bytes_compare(end, buf_bytes(&w->start)) <= 0);
	if (err == 0)
		err = buf_set(&w->end, end);
	tombstone_pile_reset(&w->pile);
	for (i = 0; i < w->count && err == 0; i++)
		err = collect(w, &w->sources[i]);
	if (err < 0)
		return err;
	items = tombstone_pile_take(&w->pile, &count);
	seqs = readers(w->context, &seq_count);
	return tombstone_fragment(items, count, seqs, seq_count, &w->list);
}

bool window_is_past(const struct window *w, struct bytes key)
{
	return w->end.size > 0 && bytes_compare(key, buf_bytes(&w->end)) >= 0;
}

void window_release(struct window *w)
{
	size_t i;

	for (i = 0; i < w->count; i++)
		tombstone_reader_release(&w->sources[i].reader);
	free(w->sources);
	tombstone_pile_release(&w->pile);
	tombstone_list_release(&w->list);
	buf_release(&w->start);
	buf_release(&w->end);
	*w = (struct window){ 0 };
}
