#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/format/key.h"
#include "store/format/tombstone.h"

void tombstone_list_release(struct tombstone_list *list)
{
	free(list->items);
	buf_release(&list->memory);
	*list = (struct tombstone_list)TOMBSTONE_LIST_INIT;
}

static int compare_start(const void *a, const void *b)
{
	return bytes_compare(((const struct tombstone *)a)->start,
			     ((const struct tombstone *)b)->start);
}

static int compare_bytes(const void *a, const void *b)
{
	return bytes_compare(*(const struct bytes *)a,
			     *(const struct bytes *)b);
}

/*
 * The sweep goes from bound to bound; between two bounds the same tombstones
 * cover. active holds them, newest first. For n tombstones of which m overlap
 * it takes some n m steps.
 */
struct sweep {
	struct tombstone *items;  /* by start; those that cover something */
	struct tombstone *active; /* some may have ended: see sweep_interval */
	struct bytes *bounds;     /* all starts and ends, ascending, distinct */
	size_t count, active_count, bound_count;
	const uint64_t *snapshots; /* ascending; borrowed */
	size_t snapshot_count;
	struct tombstone_list *out; /* borrowed */
	size_t capacity;            /* of out->items */
	size_t group; /* first of out's last fragments, of equal bounds */
};

/* Sorts items and bounds and makes room for what is certain. s is to be
 * released also on failure. */
static int sweep_init(struct sweep *s, const struct tombstone *items,
		      size_t count)
{
	size_t i, size = 0;

	/* One more of each, as malloc may give NULL for none. */
	s->items = malloc((count + 1) * sizeof(*s->items));
	s->active = malloc((count + 1) * sizeof(*s->active));
	s->bounds = malloc((2 * count + 1) * sizeof(*s->bounds));
	if (!s->items || !s->active || !s->bounds)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (bytes_compare(items[i].start, items[i].end) >= 0)
			continue;
		s->items[s->count++] = items[i];
		s->bounds[s->bound_count++] = items[i].start;
		s->bounds[s->bound_count++] = items[i].end;
	}
	if (s->count == 0)
		return 0;
	qsort(s->items, s->count, sizeof(*s->items), compare_start);
	qsort(s->bounds, s->bound_count, sizeof(*s->bounds), compare_bytes);
	count = s->bound_count;
	s->bound_count = 0;
	for (i = 0; i < count; i++) {
		if (i > 0 && bytes_equal(s->bounds[i], s->bounds[i - 1]))
			continue;
		size += s->bounds[i].size;
		s->bounds[s->bound_count++] = s->bounds[i];
	}
	/* Room for every bound at once, so that none of them moves. */
	return buf_reserve(&s->out->memory, size);
}

static void sweep_release(struct sweep *s)
{
	free(s->items);
	free(s->active);
	free(s->bounds);
}

/* Whether some reader needs seq where newer is the next newer one: a snapshot
 * that sees seq but not newer. */
static bool is_needed(const struct sweep *s, uint64_t seq, uint64_t newer)
{
	size_t low = 0, high = s->snapshot_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->snapshots[middle] < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->snapshot_count && s->snapshots[low] < newer;
}

/* Room for one more item; a list keeps no capacity, so its maker does. */
static int reserve_item(struct tombstone_list *list, size_t *capacity)
{
	size_t wanted = *capacity * 2 + 16;
	struct tombstone *items;

	if (list->count < *capacity)
		return 0;
	items = realloc(list->items, wanted * sizeof(*items));
	if (!items)
		return -ENOMEM;
	list->items = items;
	*capacity = wanted;
	return 0;
}

static int add_fragment(struct sweep *s, struct bytes start, struct bytes end,
			uint64_t seq)
{
	struct tombstone_list *out = s->out;
	int err = reserve_item(out, &s->capacity);

	if (err < 0)
		return err;
	out->items[out->count++] = (struct tombstone){ start, end, seq };
	return 0;
}

/* If the fragments from first on only continue those before them, lengthens
 * those and forgets the new ones, so that the bounds of tombstones that nobody
 * needs leave no cut. */
static void join_fragments(struct sweep *s, size_t first)
{
	struct tombstone *items = s->out->items;
	size_t n = s->out->count - first, i;

	assert(s->group <= first);
	if (n == 0)
		return;
	if (first - s->group != n ||
	    !bytes_equal(items[s->group].end, items[first].start)) {
		s->group = first;
		return;
	}
	for (i = 0; i < n; i++) {
		if (items[s->group + i].seq != items[first + i].seq) {
			s->group = first;
			return;
		}
	}
	for (i = 0; i < n; i++)
		items[s->group + i].end = items[first].end;
	s->out->count = first;
}

/* Adds the fragments of [start, end), two neighbouring bounds: of the active
 * tombstones, after those that have ended are gone, what some reader needs. */
static int sweep_interval(struct sweep *s, struct bytes start, struct bytes end)
{
	uint64_t newer = UINT64_MAX;
	size_t first = s->out->count, i, kept = 0;
	int err;

	for (i = 0; i < s->active_count; i++) {
		if (bytes_compare(s->active[i].end, start) > 0)
			s->active[kept++] = s->active[i];
	}
	s->active_count = kept;
	for (i = 0; i < s->active_count; i++) {
		uint64_t seq = s->active[i].seq;

		if (seq == newer)
			continue;
		if (i == 0 || is_needed(s, seq, newer)) {
			err = add_fragment(s, start, end, seq);
			if (err < 0)
				return err;
		}
		newer = seq;
	}
	join_fragments(s, first);
	return 0;
}

/* Into its place by age. */
static void activate(struct sweep *s, const struct tombstone *t)
{
	size_t i = s->active_count++;

	assert(i < s->count);
	for (; i > 0 && s->active[i - 1].seq < t->seq; i--)
		s->active[i] = s->active[i - 1];
	s->active[i] = *t;
}

/* The bound's copy in out's memory, which has room. */
static struct bytes keep_bound(struct sweep *s, struct bytes bound)
{
	size_t at = s->out->memory.size;

	assert(bound.size <= s->out->memory.capacity - at);
	buf_add_bytes(&s->out->memory, bound);
	return bytes_of(s->out->memory.data + at, bound.size);
}

int tombstone_fragment(const struct tombstone *items, size_t count,
		       const uint64_t *snapshots, size_t snapshot_count,
		       struct tombstone_list *out)
{
	struct sweep s = { .snapshots = snapshots,
			   .snapshot_count = snapshot_count,
			   .out = out };
	struct bytes start, end = BYTES_NONE;
	size_t i, next = 0; /* next: of items, not active yet */
	int err = sweep_init(&s, items, count);

	for (i = 0; !err && i < s.bound_count; i++) {
		start = end;
		end = keep_bound(&s, s.bounds[i]);
		if (i > 0)
			err = sweep_interval(&s, start, end);
		while (next < s.count && bytes_equal(s.items[next].start, end))
			activate(&s, &s.items[next++]);
	}
	if (err < 0)
		tombstone_list_release(out);
	sweep_release(&s);
	return err;
}

uint64_t tombstone_cover(const struct tombstone_list *list, struct bytes key,
			 uint64_t visible_seq, struct tombstone *span)
{
	struct tombstone range = { BYTES_NONE, BYTES_NONE, 0 };
	size_t low = 0, high = list->count, i;

	/* The first fragment that starts after key. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bytes_compare(list->items[middle].start, key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < list->count)
		range.end = list->items[low].start;
	if (low > 0) {
		const struct tombstone *last = &list->items[low - 1];

		range.start = last->end;
		if (bytes_compare(key, last->end) < 0) {
			/* The group that covers key ends before low: from its
			 * oldest to its newest that is visible. */
			range.start = last->start;
			range.end = last->end;
			for (i = low; i > 0; i--) {
				const struct tombstone *t = &list->items[i - 1];

				if (!bytes_equal(t->start, last->start))
					break;
				if (t->seq <= visible_seq)
					range.seq = t->seq;
			}
		}
	}
	if (span)
		*span = range;
	return range.seq;
}

int tombstone_encode(const struct tombstone *t, struct buf *b)
{
	int err = buf_add_sized(b, t->start);

	if (!err)
		err = buf_add_sized(b, t->end);
	if (!err)
		err = buf_add_varint(b, t->seq);
	return err;
}

/* Whether t may come after before in a list, which lookups count on. */
static bool is_in_order(const struct tombstone *before,
			const struct tombstone *t)
{
	if (bytes_equal(before->start, t->start))
		return bytes_equal(before->end, t->end) && before->seq > t->seq;
	return bytes_compare(before->end, t->start) <= 0;
}

static bool decode_item(struct bytes *in, struct tombstone *t)
{
	return take_sized(in, &t->start) && take_sized(in, &t->end) &&
	       take_varint(in, &t->seq) && t->seq <= KEY_SEQ_MAX &&
	       bytes_compare(t->start, t->end) < 0;
}

int tombstone_decode(struct bytes block, struct tombstone_list *out)
{
	struct tombstone_list list = TOMBSTONE_LIST_INIT;
	size_t capacity = 0;
	struct bytes in;
	int err;

	*out = list;
	/* The bounds are used where they lie in the copy. */
	err = buf_add_bytes(&list.memory, block);
	in = buf_bytes(&list.memory);
	while (!err && in.size > 0) {
		struct tombstone *t;

		err = reserve_item(&list, &capacity);
		if (err < 0)
			break;
		t = &list.items[list.count];
		if (!decode_item(&in, t) ||
		    (list.count > 0 && !is_in_order(t - 1, t)))
			err = fail(ERR_block_malformed, "bad tombstone %zu",
				   list.count);
		list.count++;
	}
	if (err < 0) {
		tombstone_list_release(&list);
		return err;
	}
	*out = list;
	return 0;
}
