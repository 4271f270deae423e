#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/engine/compact/merge.h"
#include "store/format/key.h"

/*
 * heap[0] has the smallest key, and heap[i] is not greater than its children
 * heap[2i + 1] and heap[2i + 2]. Sources at their end are not in the heap.
 */
struct merge {
	struct iter iter; /* first, so that it can be cast */
	size_t count;     /* in heap */
	size_t second;    /* see second; 0: not known */
	size_t source_count;
	struct iter **heap;     /* room for all sources; owned */
	struct iter *sources[]; /* owned; closed with the merge */
};

static bool is_less(const struct iter *a, const struct iter *b)
{
	return bytes_compare(a->key, b->key) < 0;
}

/* Lets the source at i sink to its place. */
static void sift_down(struct merge *m, size_t i)
{
	struct iter *moved = m->heap[i];
	size_t child;

	assert(i < m->count);
	while ((child = 2 * i + 1) < m->count) {
		if (child + 1 < m->count &&
		    is_less(m->heap[child + 1], m->heap[child]))
			child++;
		if (!is_less(m->heap[child], moved))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = moved;
}

/* Shows the top's entry: 1, or 0 at the end. */
static int show_top(struct merge *m)
{
	if (m->count == 0)
		return 0;
	m->iter.key = m->heap[0]->key;
	m->iter.value = m->heap[0]->value;
	return 1;
}

/* The one with the smallest key but for the top: one of its two children, and
 * the same one until the heap changes. The heap has two or more. */
static size_t second(struct merge *m)
{
	assert(m->count > 1);
	if (!m->second)
		m->second =
			m->count > 2 && is_less(m->heap[2], m->heap[1]) ? 2 : 1;
	return m->second;
}

/* The top has moved, with this result, or is at its end. Mostly it stays the
 * top: sources hold runs of rows. */
static int settle_top(struct merge *m, int result)
{
	if (result < 0)
		return result;
	if (result == 0) {
		m->heap[0] = m->heap[--m->count];
		m->second = 0;
	}
	if (m->count > 1 && is_less(m->heap[second(m)], m->heap[0])) {
		sift_down(m, 0);
		m->second = 0;
	}
	return show_top(m);
}

/* All sources are sought, and the heap is built from the bottom, in linear
 * time. */
static int merge_seek(struct iter *it, struct bytes key)
{
	struct merge *m = (struct merge *)it;
	size_t i;

	m->count = m->second = 0;
	for (i = 0; i < m->source_count; i++) {
		int result = iter_seek(m->sources[i], key);

		if (result < 0)
			return result;
		if (result > 0)
			m->heap[m->count++] = m->sources[i];
	}
	for (i = m->count / 2; i-- > 0;)
		sift_down(m, i);
	return show_top(m);
}

static int merge_next(struct iter *it)
{
	struct merge *m = (struct merge *)it;

	assert(m->count > 0); /* next is allowed at an entry only */
	return settle_top(m, iter_next(m->heap[0]));
}

/* Each source whose entry lies before the target is moved to it, the top first.
 * Those that are past it already are not touched. */
static int merge_skip(struct iter *it, struct bytes key)
{
	struct merge *m = (struct merge *)it;
	struct bytes row = bytes_of(key.data, key_row_end(key));
	int result = m->count > 0;

	while (result > 0 && bytes_compare(m->heap[0]->key, key) < 0) {
		struct iter *top = m->heap[0];

		if (row.size > 0 && bytes_starts_with(top->key, row))
			result = iter_seek(top, key);
		else
			result = iter_skip(top, key);
		result = settle_top(m, result);
	}
	return result;
}

/* The greatest of what the sources have before key. The heap is of no use for
 * going back: after this only seek and before are allowed. */
static int merge_before(struct iter *it, struct bytes key)
{
	struct merge *m = (struct merge *)it;
	struct iter *best = NULL;
	size_t i;

	m->count = 0;
	for (i = 0; i < m->source_count; i++) {
		int result = iter_before(m->sources[i], key);

		if (result < 0)
			return result;
		if (result > 0 && (!best || is_less(best, m->sources[i])))
			best = m->sources[i];
	}
	if (!best)
		return 0;
	m->iter.key = best->key;
	m->iter.value = best->value;
	return 1;
}

static void merge_since(struct iter *it, uint64_t timestamp_us)
{
	struct merge *m = (struct merge *)it;
	size_t i;

	for (i = 0; i < m->source_count; i++)
		iter_since(m->sources[i], timestamp_us);
}

/* What one source adds has nothing of another between it: a version's writes
 * are in one source after the other. */
static int merge_merge(struct iter *it, uint64_t floor_seq,
		       struct aggregate *to)
{
	struct merge *m = (struct merge *)it;

	assert(m->count > 0);
	return settle_top(m, iter_merge(m->heap[0], floor_seq, to));
}

static void merge_close(struct iter *it)
{
	struct merge *m = (struct merge *)it;
	size_t i;

	for (i = 0; i < m->source_count; i++)
		iter_close(m->sources[i]);
	free(m->heap);
	free(m);
}

static const struct iter_ops merge_ops = {
	.seek = merge_seek,
	.next = merge_next,
	.skip = merge_skip,
	.before = merge_before,
	.since = merge_since,
	.merge = merge_merge,
	.close = merge_close,
};

int merge_iter_new(struct iter **sources, size_t count, struct iter **out)
{
	/* One more, since malloc(0) may be NULL. */
	struct iter **heap = malloc((count + 1) * sizeof(struct iter *));
	struct merge *m = calloc(1, sizeof(*m) + count * sizeof(struct iter *));
	size_t i;

	*out = NULL;
	if (!heap || !m) {
		free(heap);
		free(m);
		for (i = 0; i < count; i++)
			iter_close(sources[i]);
		return -ENOMEM;
	}
	m->iter.ops = &merge_ops;
	m->source_count = count;
	m->heap = heap;
	for (i = 0; i < count; i++)
		m->sources[i] = sources[i];
	*out = &m->iter;
	return 0;
}
