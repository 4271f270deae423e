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
 * cover. Snapshots part sequences into stripes: of the tombstones of a stripe
 * that cover, the newest is needed, and no other. A stripe is a heap by age,
 * whose top is the newest; one that has ended leaves it when it comes to the
 * top. For n tombstones and s stripes it takes some n (log n + s) steps.
 */
struct stripe {
	struct tombstone *heap; /* has room for all of the stripe */
	size_t count;
};

struct sweep {
	struct tombstone *items; /* by start; those that cover something */
	struct tombstone *heaps; /* one stripe's after another */
	struct stripe *stripes;  /* from the newest */
	struct bytes *bounds;    /* all starts and ends, ascending, distinct */
	size_t count, stripe_count, bound_count;
	const uint64_t *snapshots; /* ascending; borrowed */
	size_t snapshot_count;
	struct tombstone_list *out; /* borrowed */
	size_t capacity;            /* of out->items */
	size_t group; /* first of out's last fragments, of equal bounds */
};

/* Which stripe seq is in: 0 is for what is newer than all snapshots. */
static size_t stripe_of(const struct sweep *s, uint64_t seq)
{
	size_t low = 0, high = s->snapshot_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->snapshots[middle] < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return s->snapshot_count - low;
}

/* Gives each stripe room for its items. */
static void share_heaps(struct sweep *s)
{
	struct tombstone *heap = s->heaps;
	size_t i;

	for (i = 0; i < s->count; i++)
		s->stripes[stripe_of(s, s->items[i].seq)].count++;
	for (i = 0; i < s->stripe_count; i++) {
		s->stripes[i].heap = heap;
		heap += s->stripes[i].count;
		s->stripes[i].count = 0;
	}
}

/* Sorts items and bounds and makes room for what is certain. s is to be
 * released also on failure. */
static int sweep_init(struct sweep *s, const struct tombstone *items,
		      size_t count)
{
	size_t i, size = 0;

	/* One more of each, as malloc may give NULL for none. */
	s->items = malloc((count + 1) * sizeof(*s->items));
	s->heaps = malloc((count + 1) * sizeof(*s->heaps));
	s->stripe_count = s->snapshot_count + 1;
	s->stripes = calloc(s->stripe_count, sizeof(*s->stripes));
	s->bounds = malloc((2 * count + 1) * sizeof(*s->bounds));
	if (!s->items || !s->heaps || !s->stripes || !s->bounds)
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
	share_heaps(s);
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
	free(s->heaps);
	free(s->stripes);
	free(s->bounds);
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

static void push(struct stripe *p, const struct tombstone *t)
{
	size_t i = p->count++;

	for (; i > 0 && p->heap[(i - 1) / 2].seq < t->seq; i = (i - 1) / 2)
		p->heap[i] = p->heap[(i - 1) / 2];
	p->heap[i] = *t;
}

static void activate(struct sweep *s, const struct tombstone *t)
{
	push(&s->stripes[stripe_of(s, t->seq)], t);
}

static void pop(struct stripe *p)
{
	struct tombstone last = p->heap[--p->count];
	size_t i = 0, child;

	for (child = 1; child < p->count; child = 2 * i + 1) {
		if (child + 1 < p->count &&
		    p->heap[child + 1].seq > p->heap[child].seq)
			child++;
		if (p->heap[child].seq <= last.seq)
			break;
		p->heap[i] = p->heap[child];
		i = child;
	}
	p->heap[i] = last;
}

/* Adds the fragments of [start, end), two neighbouring bounds: of each stripe
 * the newest that covers it. */
static int sweep_interval(struct sweep *s, struct bytes start, struct bytes end)
{
	size_t first = s->out->count, i;
	int err = 0;

	for (i = 0; i < s->stripe_count && !err; i++) {
		struct stripe *p = &s->stripes[i];

		while (p->count > 0 &&
		       bytes_compare(p->heap[0].end, start) <= 0)
			pop(p);
		if (p->count > 0)
			err = add_fragment(s, start, end, p->heap[0].seq);
	}
	if (!err)
		join_fragments(s, first);
	return err;
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

bool tombstone_in_order(const struct tombstone *before,
			const struct tombstone *t)
{
	if (bytes_equal(before->start, t->start))
		return bytes_equal(before->end, t->end) && before->seq > t->seq;
	return bytes_compare(before->end, t->start) <= 0;
}

bool tombstone_take(struct bytes *in, struct tombstone *t)
{
	return take_sized(in, &t->start) && take_sized(in, &t->end) &&
	       t->start.size <= KEY_SIZE_MAX && t->end.size <= KEY_SIZE_MAX &&
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
		if (!tombstone_take(&in, t) ||
		    (list.count > 0 && !tombstone_in_order(t - 1, t)))
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

/* The bound as a place in the pile's memory, which may move yet. */
static struct bytes keep(struct tombstone_pile *p, struct bytes bound)
{
	size_t at = p->memory.size;

	(void)!buf_add_bytes(&p->memory, bound);
	return bytes_of((void *)(uintptr_t)at, bound.size);
}

int tombstone_pile_add(struct tombstone_pile *p, const struct tombstone *t)
{
	struct tombstone copy = { .seq = t->seq };
	int err = buf_reserve(&p->memory, t->start.size + t->end.size);

	if (!err)
		err = buf_reserve(&p->items, sizeof(copy));
	if (err < 0)
		return err;
	copy.start = keep(p, t->start);
	copy.end = keep(p, t->end);
	return buf_add(&p->items, &copy, sizeof(copy));
}

const struct tombstone *tombstone_pile_take(struct tombstone_pile *p,
					    size_t *count)
{
	struct tombstone *items = (void *)p->items.data;
	size_t i;

	*count = p->items.size / sizeof(*items);
	for (i = 0; i < *count; i++) {
		items[i].start.data =
			p->memory.data + (uintptr_t)items[i].start.data;
		items[i].end.data =
			p->memory.data + (uintptr_t)items[i].end.data;
	}
	return items;
}

void tombstone_pile_reset(struct tombstone_pile *p)
{
	buf_reset(&p->items);
	buf_reset(&p->memory);
}

void tombstone_pile_release(struct tombstone_pile *p)
{
	buf_release(&p->items);
	buf_release(&p->memory);
}
