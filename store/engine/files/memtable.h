#ifndef STORE_ENGINE_FILES_MEMTABLE_H
#define STORE_ENGINE_FILES_MEMTABLE_H

#include <stdatomic.h>

#include "store/base/arena.h"
#include "store/engine/files/batch.h"
#include "store/format/iter.h"
#include "store/format/tombstone.h"

/*
 * Memtable: two skiplists on one fixed arena, of cells and of tombstone
 * fragments. Places are 32-bit offsets. One thread writes at a time; any number
 * read without locks, because a node is linked with release when it is whole
 * and every reader ignores what is newer than its snapshot.
 *
 * The fragment list holds the boundaries of all range tombstones; each node
 * carries the tombstones that cover from it to the next, newest first. A new
 * tombstone copies the list of what covers its bounds and is then pushed on
 * every node between them.
 */
#define MEMTABLE_HEIGHT_MAX 12

struct skiplist {
	uint32_t head; /* a node without key, before all others */
	/* The nodes before the last one added, by height: where the writer
	 * starts to look for the next place. */
	uint32_t before[MEMTABLE_HEIGHT_MAX];
};

struct memtable {
	struct arena arena;
	struct skiplist cells;
	struct skiplist fragments;
	_Atomic uint32_t tombstone_count;
	_Atomic uint32_t cell_count;
	_Atomic uint32_t delete_count; /* of cells: point deletes */
	_Atomic uint64_t first_delete; /* seq of the first deletion outside
					  table 0; 0: none */
	uint64_t first_seq, last_seq;  /* 0 while empty; of the writer */
	uint64_t log_id;               /* of the log that holds it */
	_Atomic uint64_t max_timestamp;
	/* A Bloom filter of the cells' row, family and column prefixes: of each
	 * some bits of one word. */
	_Atomic uint64_t *filter;
	size_t filter_words;
	uint32_t last_cell; /* whose prefixes were added last; 0: none */
	uint32_t random;
	atomic_uint references;
};

/* The sequence of its first deletion; UINT64_MAX if there is none. */
static inline uint64_t memtable_first_delete(const struct memtable *m)
{
	uint64_t seq = atomic_load(&m->first_delete);

	return seq ? seq : UINT64_MAX;
}

int memtable_new(size_t arena_size, struct memtable **out);
struct memtable *memtable_get(struct memtable *m);
void memtable_put(struct memtable *m);

/* Whether batch fits for certain: then memtable_apply cannot fail. */
bool memtable_fits(const struct memtable *m, const struct batch *batch);
/* Applies all records; the first has sequence seq, the next seq + 1, ... */
void memtable_apply(struct memtable *m, const struct batch *batch,
		    uint64_t seq);
/* How large an arena an empty memtable needs for this batch alone. May be more
 * than an arena can have (UINT32_MAX) when many ranges overlap. */
size_t memtable_need(const struct batch *batch);

/* Whether a cell's key may start with the row, family or column prefix of this
 * hash64. */
bool memtable_may_contain(const struct memtable *m, uint64_t prefix_hash);

/* Over the cells, whatever their sequence; m must stay referenced. */
int memtable_iter_new(struct memtable *m, struct iter **out);
/* The same in the caller's memory; it is not closed. */
struct memtable_iter {
	struct iter iter;
	const struct memtable *m;
	uint32_t place;
};

void memtable_iter_init(struct memtable_iter *it, const struct memtable *m);

/*
 * The largest seq <= visible_seq of a range tombstone covering key, or 0. With
 * span, also tells a range around key for which the answer is the same; its
 * bounds live as long as m, and an empty end means none.
 */
uint64_t memtable_cover(const struct memtable *m, struct bytes key,
			uint64_t visible_seq, struct tombstone *span);

/* All range tombstones, fragmented; see tombstone_fragment. */
int memtable_tombstones(const struct memtable *m, const uint64_t *snapshots,
			size_t snapshot_count, struct tombstone_list *out);

#endif
