#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "store/base/coding.h"
#include "store/base/err.h"
#include "store/base/threads/reference.h"
#include "store/engine/files/memtable.h"
#include "store/engine/memory/covers.h"
#include "store/engine/memory/parts.h"

/*
 * A node of the list of cells holds the encoded key and the value; of a merge a
 * struct part before the value, aligned. extra is the value's size. A node of
 * the list of fragments holds its start, and extra is its newest cover.
 */

/* Beside a merge's key and value, what aligning wastes included. */
#define PART_SIZE (sizeof(struct part) + sizeof(uint32_t))
/* What a record takes besides its bytes: the tallest node, a trailer, and what
 * aligning wastes. */
#define NODE_SIZE_MAX (SKIPLIST_NODE_MAX + KEY_TRAILER_SIZE + PART_SIZE + 8)
#define COVER_SIZE sizeof(struct cover)
static_assert(COVER_SIZE % 8 == 0, "the arena's alignment wastes nothing");
/* One word of the filter for so many bytes of cells: with values of 100 bytes,
 * some 17 bits for each prefix. */
#define FILTER_SHARE 512

static struct bytes node_key(const struct memtable *m, uint32_t place)
{
	return skiplist_key(&m->arena, place);
}

static uint32_t node_next(const struct memtable *m, uint32_t place)
{
	return skiplist_next(&m->arena, place);
}

static _Atomic uint32_t *node_extra(const struct memtable *m, uint32_t place)
{
	return &skiplist_node(&m->arena, place)->extra;
}

/* The part of a merge; 0 of another cell. */
static uint32_t node_part(const struct memtable *m, uint32_t place)
{
	struct bytes key = node_key(m, place);
	size_t end = (size_t)(key.data + key.size - m->arena.base);

	if (key_kind(key) != KEY_MERGE)
		return 0;
	return (uint32_t)((end + 3) & ~(size_t)3);
}

static uint8_t *node_value_data(const struct memtable *m, uint32_t place)
{
	uint32_t part = node_part(m, place);

	return part ? arena_at(&m->arena, part + sizeof(struct part))
		    : skiplist_key_data(&m->arena, place) +
			       node_key(m, place).size;
}

static struct bytes node_value(const struct memtable *m, uint32_t place)
{
	return bytes_of(node_value_data(m, place),
			atomic_load_explicit(node_extra(m, place),
					     memory_order_relaxed));
}

int memtable_new(size_t arena_size, struct memtable **out)
{
	struct memtable *m;
	int err;

	*out = NULL;
	if (arena_size > UINT32_MAX)
		return fail(ERR_batch_too_large, "memtable of %zu bytes",
			    arena_size);
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	reference_init(&m->references);
	err = prefix_filter_init(&m->filter, arena_size / FILTER_SHARE + 1);
	if (!err)
		err = arena_init(&m->arena, arena_size);
	if (!err)
		err = skiplist_init(&m->cells, &m->arena);
	if (!err)
		err = skiplist_init(&m->fragments, &m->arena);
	if (err < 0) {
		memtable_put(m);
		return err;
	}
	*out = m;
	return 0;
}

void memtable_count(struct memtable *m, struct memory *memory)
{
	assert(!m->memory);
	m->memory = memory;
	memory_hold(memory, MEMORY_MEMTABLES, m->arena.size);
}

struct memtable *memtable_get(struct memtable *m)
{
	reference_take(&m->references);
	return m;
}

void memtable_put(struct memtable *m)
{
	if (!m || !reference_drop(&m->references))
		return;
	if (m->memory)
		memory_give(m->memory, MEMORY_MEMTABLES, m->arena.size);
	tombstone_list_release(&m->reserved);
	buf_release(&m->scratch);
	arena_release(&m->arena);
	prefix_filter_release(&m->filter);
	free(m);
}

bool memtable_may_contain(const struct memtable *m, uint64_t hash)
{
	return prefix_filter_may_contain(&m->filter, hash);
}

/* Adds those prefixes of the key that the cell added before does not share. */
static void add_prefixes(struct memtable *m, struct bytes key,
			 struct prefix_pending *p)
{
	size_t column_end = key.size - KEY_TIMESTAMP_SIZE - KEY_TRAILER_SIZE;
	size_t shared = 0, row_end, family_end;

	if (m->last_cell)
		shared = bytes_shared(node_key(m, m->last_cell), key);
	if (shared >= column_end)
		return;
	prefix_pending_add(p, &m->filter, bytes_of(key.data, column_end));
	row_end = key_row_end(key);
	family_end = key_family_end(key, row_end);
	if (shared < family_end)
		prefix_pending_add(p, &m->filter,
				   bytes_of(key.data, family_end));
	if (shared < row_end)
		prefix_pending_add(p, &m->filter, bytes_of(key.data, row_end));
}

/* The part that a merge with this key, for which skiplist_find was called, goes
 * on from; 0 if the next cell is no merge of its version, or a deletion or a
 * change of the schema lies between them. */
static uint32_t part_below(const struct memtable *m, struct bytes key)
{
	uint32_t below = node_next(m, m->cells.before[0]), part;
	struct bytes older;

	part = below ? node_part(m, below) : 0;
	if (!part)
		return 0;
	older = node_key(m, below);
	if (!bytes_equal(key_version(older), key_version(key)) ||
	    key_seq(older) < m->schema_seq ||
	    (atomic_load(&m->tombstone_count) > 0 &&
	     memtable_cover(m, older, UINT64_MAX, NULL) > key_seq(older)))
		return 0;
	return part;
}

/* Makes the part of a merge, before anybody sees its node. */
static void add_part(struct memtable *m, uint32_t place)
{
	uint32_t part = node_part(m, place);
	struct part *p = arena_at(&m->arena, part);
	size_t used = arena_used(&m->arena);

	p->first = place;
	p->size = atomic_load_explicit(node_extra(m, place),
				       memory_order_relaxed);
	part_link(&m->arena, part, part_below(m, node_key(m, place)), m->spare,
		  &m->scratch);
	m->spare -= arena_used(&m->arena) - used;
}

/* A node for one record, not linked yet. */
static uint32_t make_cell(struct memtable *m, const struct batch_record *r,
			  uint64_t seq)
{
	size_t key_size = r->key.size + KEY_TRAILER_SIZE;
	size_t more = r->kind == KEY_MERGE ? PART_SIZE : 0;
	uint32_t place =
		skiplist_new(&m->cells, key_size, more + r->value.size);
	uint8_t *key;

	assert(place && "the caller asked memtable_reserve");
	key = skiplist_key_data(&m->arena, place);
	memcpy(key, r->key.data, r->key.size);
	put_u64be(key + r->key.size, ~(seq << 8 | r->kind));
	atomic_init(node_extra(m, place), (uint32_t)r->value.size);
	if (r->value.size)
		memcpy(node_value_data(m, place), r->value.data, r->value.size);
	return place;
}

/* Adds a node for one record. Its prefixes are in p on return; those that were
 * there before are in the filter. */
static void add_cell(struct memtable *m, const struct batch_record *r,
		     uint64_t seq, struct prefix_pending *p)
{
	uint32_t place = make_cell(m, r, seq);
	struct bytes key = node_key(m, place);
	unsigned int earlier = p->count;
	uint64_t timestamp;

	add_prefixes(m, key, p);
	m->last_cell = place;
	skiplist_find(&m->cells, key);
	if (r->kind == KEY_MERGE)
		add_part(m, place);
	prefix_pending_set(p, earlier);
	skiplist_link(&m->cells, place);
	if (r->kind == KEY_DELETE)
		atomic_fetch_add_explicit(&m->delete_count, 1,
					  memory_order_relaxed);
	atomic_fetch_add_explicit(&m->cell_count, 1, memory_order_relaxed);
	timestamp = key_timestamp(key);
	if (timestamp >
	    atomic_load_explicit(&m->max_timestamp, memory_order_relaxed))
		atomic_store_explicit(&m->max_timestamp, timestamp,
				      memory_order_release);
}

/* The fragment that starts at key, which is made if there is none. */
static uint32_t split_fragment(struct memtable *m, struct bytes key)
{
	struct skiplist *s = &m->fragments;
	uint32_t place, next;

	skiplist_find(s, key);
	next = node_next(m, s->before[0]);
	if (next && bytes_equal(node_key(m, next), key))
		return next;
	place = skiplist_new(s, key.size, 0);
	assert(place && "the caller asked memtable_reserve");
	if (key.size)
		memcpy(skiplist_key_data(&m->arena, place), key.data, key.size);
	/* What covered the key before covers it still. */
	atomic_init(node_extra(m, place),
		    atomic_load_explicit(node_extra(m, s->before[0]),
					 memory_order_relaxed));
	skiplist_link(s, place);
	return place;
}

/* The newest cover of a fragment; 0 if none. */
static uint32_t newest_cover(const struct memtable *m, uint32_t place)
{
	return atomic_load_explicit(node_extra(m, place), memory_order_acquire);
}

/* Both bounds begin fragments first; then each fragment between them gets one
 * more cover. Readers beside it ignore that, since its sequence is newer than
 * what they may see. */
static void add_range(struct memtable *m, const struct tombstone *t,
		      uint64_t seq)
{
	uint32_t end = split_fragment(m, t->end);
	uint32_t place = split_fragment(m, t->start);

	for (; place != end; place = node_next(m, place)) {
		uint32_t cover =
			covers_push(&m->arena, newest_cover(m, place), seq);

		assert(cover && "the caller asked memtable_reserve");
		assert(place && "end is after the start");
		atomic_store_explicit(node_extra(m, place), cover,
				      memory_order_release);
	}
	atomic_fetch_add_explicit(&m->tombstone_count, 1, memory_order_relaxed);
}

/* Not so the marks of bulk loads, which are in the schema's table. */
static bool deletes_data(const struct batch_record *r)
{
	return (r->kind == BATCH_RANGE || r->kind == KEY_DELETE) &&
	       key_table(r->key) != 0;
}

void memtable_apply(struct memtable *m, const struct batch *batch, uint64_t seq)
{
	struct prefix_pending pending = { .count = 0 };
	struct batch_record r;
	size_t position = 0, i;

	assert(seq > 0);
	assert((batch->range_count > 0) == (m->reserved.count > 0));
	if (!m->first_seq)
		m->first_seq = seq;
	for (i = 0; i < m->reserved.count; i++)
		add_range(m, &m->reserved.items[i],
			  seq + m->reserved.items[i].seq - 1);
	tombstone_list_release(&m->reserved);
	for (; batch_next(batch, &position, &r); seq++) {
		if (atomic_load(&m->first_delete) == 0 && deletes_data(&r))
			atomic_store(&m->first_delete, seq);
		if (key_table(r.key) == 0)
			m->schema_seq = seq;
		if (r.kind != BATCH_RANGE)
			add_cell(m, &r, seq, &pending);
		m->last_seq = seq;
	}
	/* Before the caller makes the sequences visible. */
	prefix_pending_set(&pending, pending.count);
}

/*
 * The ranges of a batch as fragments that do not overlap, each with the number
 * in the batch, from 1, of the last record that covers it: nobody sees one
 * record of a batch without the others, so older ones under it count for
 * nothing.
 */
static int flatten(const struct batch *batch, struct tombstone_list *out)
{
	struct tombstone *items = malloc(batch->range_count * sizeof(*items));
	struct batch_record r;
	size_t position = 0, count = 0;
	uint64_t number = 0;
	int err;

	if (!items)
		return -ENOMEM;
	while (batch_next(batch, &position, &r)) {
		number++;
		if (r.kind == BATCH_RANGE)
			items[count++] =
				(struct tombstone){ r.key, r.value, number };
	}
	assert(count == batch->range_count);
	err = tombstone_fragment(items, count, NULL, 0, out);
	free(items);
	return err;
}

/* How many fragments of m start in (start, end). */
static uint64_t count_fragments(const struct memtable *m, struct bytes start,
				struct bytes end)
{
	uint32_t place = skiplist_before(&m->fragments, start);
	uint64_t count = 0;

	for (place = node_next(m, place);
	     skiplist_is_before(&m->arena, place, end);
	     place = node_next(m, place))
		count++;
	return count;
}

/* Bytes that a batch's nodes may take. Of a range these are two, which share
 * the bytes of its record. */
static size_t nodes_need(const struct batch *batch)
{
	static_assert(BATCH_SIZE_MAX + BATCH_RECORDS_MAX *
					       (UINT64_C(2) * NODE_SIZE_MAX +
						2 * COVER_SIZE) <
			      UINT32_MAX / 2,
		      "an arena can hold any batch");

	return batch->data.size +
	       (batch->count + (size_t)batch->range_count) * NODE_SIZE_MAX;
}

int memtable_reserve(struct memtable *m, const struct batch *batch)
{
	uint64_t need = nodes_need(batch);
	size_t i;
	int err;

	tombstone_list_release(&m->reserved);
	if (batch->range_count > 0) {
		err = flatten(batch, &m->reserved);
		if (err < 0)
			return err;
	}
	/* A cover for each fragment of m's or the batch's that is covered. */
	for (i = 0; i < m->reserved.count; i++)
		need += COVER_SIZE *
			(1 + count_fragments(m, m->reserved.items[i].start,
					     m->reserved.items[i].end));
	if (need > m->arena.size - arena_used(&m->arena))
		return 0;
	m->spare = m->arena.size - arena_used(&m->arena) - need;
	return 1;
}

size_t memtable_need(const struct batch *batch)
{
	return nodes_need(batch) + 2 * batch->range_count * COVER_SIZE +
	       4 * NODE_SIZE_MAX;
}

/* Shows the cell at place; 0 is the end. */
static int iter_at(struct memtable_iter *it, uint32_t place)
{
	it->place = place;
	if (!place)
		return 0;
	it->iter.key = node_key(it->m, place);
	it->iter.value = node_value(it->m, place);
	return 1;
}

static int cells_seek(struct iter *iter, struct bytes key)
{
	struct memtable_iter *it = (struct memtable_iter *)iter;
	uint32_t before = skiplist_before(&it->m->cells, key);

	return iter_at(it, node_next(it->m, before));
}

static int cells_next(struct iter *iter)
{
	struct memtable_iter *it = (struct memtable_iter *)iter;

	return iter_at(it, it->place ? node_next(it->m, it->place) : 0);
}

/* A few steps first: a search costs more than a dozen of them. */
static int cells_skip(struct iter *iter, struct bytes key)
{
	struct memtable_iter *it = (struct memtable_iter *)iter;
	unsigned int step;

	for (step = 0; step < 12 && it->place; step++) {
		if (!skiplist_is_before(&it->m->arena, it->place, key))
			return iter_at(it, it->place);
		it->place = node_next(it->m, it->place);
	}
	return it->place ? cells_seek(iter, key) : 0;
}

static int cells_before(struct iter *iter, struct bytes key)
{
	struct memtable_iter *it = (struct memtable_iter *)iter;
	uint32_t before = skiplist_before(&it->m->cells, key);

	return iter_at(it, before == it->m->cells.head ? 0 : before);
}

/* As iter_merge: all of the chain that the part of the entry is in. */
static int cells_merge(struct iter *iter, uint64_t floor_seq,
		       struct aggregate *to)
{
	struct memtable_iter *it = (struct memtable_iter *)iter;
	const struct memtable *m = it->m;
	const struct part *p = arena_at(&m->arena, node_part(m, it->place));
	bool all = key_seq(node_key(m, p->first)) >= floor_seq;
	int err;

	assert(key_kind(iter->key) == KEY_MERGE);
	err = all ? part_merge(&m->arena, p, to)
		  : aggregate_add(to, iter->value);
	return err < 0 ? err
		       : iter_at(it, node_next(m, all ? p->first : it->place));
}

static void cells_close(struct iter *iter)
{
	free(iter);
}

static const struct iter_ops cells_ops = {
	.seek = cells_seek,
	.next = cells_next,
	.skip = cells_skip,
	.before = cells_before,
	.merge = cells_merge,
	.close = cells_close,
};

void memtable_iter_init(struct memtable_iter *it, const struct memtable *m)
{
	*it = (struct memtable_iter){ .iter.ops = &cells_ops, .m = m };
}

int memtable_iter_new(struct memtable *m, struct iter **out)
{
	struct memtable_iter *it = malloc(sizeof(*it));

	*out = NULL;
	if (!it)
		return -ENOMEM;
	memtable_iter_init(it, m);
	*out = &it->iter;
	return 0;
}

/* The sequence of the newest cover of a fragment that visible_seq sees; 0:
 * none. Newer ones may be pushed meanwhile, in front. */
static uint64_t fragment_cover(const struct memtable *m, uint32_t place,
			       uint64_t visible_seq)
{
	return covers_seq(
		&m->arena,
		covers_find(&m->arena, newest_cover(m, place), visible_seq));
}

/* The last fragment that starts at or before key; may be the head. */
static uint32_t find_fragment(const struct memtable *m, struct bytes key)
{
	uint32_t place = skiplist_before(&m->fragments, key);
	uint32_t next = node_next(m, place);

	if (next && bytes_equal(node_key(m, next), key))
		return next;
	return place;
}

uint64_t memtable_cover(const struct memtable *m, struct bytes key,
			uint64_t visible_seq, struct tombstone *span)
{
	uint32_t place = find_fragment(m, key);
	uint64_t seq = fragment_cover(m, place, visible_seq);

	if (!span)
		return seq;
	*span = (struct tombstone){ node_key(m, place), BYTES_NONE, seq };
	/* One range over many smaller ones is one span, to be skipped in one
	 * step; what is not covered is not skipped. */
	do {
		place = node_next(m, place);
	} while (place && seq && fragment_cover(m, place, visible_seq) == seq);
	if (place)
		span->end = node_key(m, place);
	return seq;
}

/* Adds to items the covers of a fragment that some reader needs, the newest
 * first: what is between two snapshots is nobody's. */
static int needed_covers(const struct memtable *m, uint32_t place,
			 const uint64_t *snapshots, size_t snapshot_count,
			 struct buf *items)
{
	uint32_t next = node_next(m, place), at = newest_cover(m, place);
	struct tombstone t = { .start = node_key(m, place) };
	int err = 0;

	if (next)
		t.end = node_key(m, next);
	while (at && !err) {
		t.seq = covers_seq(&m->arena, at);
		err = buf_add(items, &t, sizeof(t));
		while (snapshot_count > 0 &&
		       snapshots[snapshot_count - 1] >= t.seq)
			snapshot_count--;
		at = snapshot_count > 0
			     ? covers_find(&m->arena, at,
					   snapshots[snapshot_count - 1])
			     : 0;
	}
	return err;
}

int memtable_tombstones_part(const struct memtable *m,
			     const uint64_t *snapshots, size_t snapshot_count,
			     size_t count, uint32_t *place, struct bytes *end,
			     struct tombstone_list *out)
{
	struct buf items = BUF_INIT;
	uint32_t at = *place ? *place : m->fragments.head;
	size_t row_end;
	int err = 0;

	*end = BYTES_NONE;
	while (at && !err) {
		err = needed_covers(m, at, snapshots, snapshot_count, &items);
		at = node_next(m, at);
		if (!at || items.size / sizeof(struct tombstone) < count)
			continue;
		row_end = key_row_end(node_key(m, at));
		if (row_end == 0 || row_end == node_key(m, at).size) {
			*end = node_key(m, at);
			break;
		}
	}
	*place = at;
	/* They are fragments; neighbours that are alike now become one. */
	if (!err)
		err = tombstone_fragment(
			(const struct tombstone *)(const void *)items.data,
			items.size / sizeof(struct tombstone), snapshots,
			snapshot_count, out);
	buf_release(&items);
	return err;
}

int memtable_tombstones(const struct memtable *m, const uint64_t *snapshots,
			size_t snapshot_count, struct tombstone_list *out)
{
	uint32_t place = 0;
	struct bytes end;

	return memtable_tombstones_part(m, snapshots, snapshot_count, SIZE_MAX,
					&place, &end, out);
}
