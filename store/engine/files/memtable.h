#ifndef STORE_ENGINE_FILES_MEMTABLE_H
#define STORE_ENGINE_FILES_MEMTABLE_H

#include <stdatomic.h>

#include "store/base/memory.h"
#include "store/engine/files/batch.h"
#include "store/engine/memory/prefix_filter.h"
#include "store/engine/memory/skiplist.h"
#include "store/format/iter.h"
#include "store/format/tombstone.h"

/*
 * Memtable: two skiplists on one fixed arena, of cells and of tombstone
 * fragments. One thread writes at a time; any number read without locks, as
 * every reader ignores what is newer than its snapshot.
 *
 * The fragment list holds the boundaries of all range tombstones; each node
 * carries the tombstones that cover from it to the next, newest first. A new
 * tombstone copies the list of what covers its bounds and is then pushed on
 * every node between them. Those of one batch are flattened before, so that a
 * batch of n ranges adds at most 2 n nodes, and a cover to each of these and to
 * each that was there. n batches of a range each, every one over all before,
 * take n^2 covers: the arena bounds them, and the steps for one.
 *
 * Nothing is ever removed or changed: an overwrite and a delete are further
 * nodes. The memory is bounded by the arena, and a batch is asked whether it
 * fits before it is logged, so that applying it cannot fail.
 *
 * Of a merge an iterator shows what was written; what it and the older ones
 * come to is kept beside, for iter_merge: memory/parts.h.
 */
struct memtable {
	struct arena arena;        /* of all nodes and covers */
	struct skiplist cells;     /* by encoded key, trailer included */
	struct skiplist fragments; /* by their start; the head starts at "" */
	/* Read by anyone, and never less than what a reader may see. */
	_Atomic uint32_t tombstone_count;
	_Atomic uint32_t cell_count;
	_Atomic uint32_t delete_count;  /* of cells: point deletes */
	_Atomic uint64_t max_timestamp; /* of cells; us */
	_Atomic uint64_t first_delete;  /* seq of the first deletion outside
					   table 0; 0: none */
	_Atomic uint64_t delete_us;     /* the GC time of that; 0: not known */
	uint64_t first_seq, last_seq;   /* 0 while empty; the writer's, or
					   anyone's once it is immutable */
	uint64_t log_id; /* the oldest log that holds something of it */
	struct prefix_filter filter; /* of the cells' row, family and column
					prefixes */
	/* The ranges of the batch that memtable_reserve was asked for, by their
	 * number in it, from 1; of the writer. */
	struct tombstone_list reserved;
	/* The writer's, of the joining of merges; see memory/parts.h. */
	uint64_t schema_seq; /* of the last record of table 0; 0: none */
	size_t spare;        /* bytes that the reserved batch does not need */
	struct buf scratch;
	uint32_t last_cell;    /* whose prefixes were added last; 0: none */
	struct memory *memory; /* that counts it; NULL: none */
	atomic_uint references;
};

/* The sequence of its first deletion; UINT64_MAX if there is none. */
static inline uint64_t memtable_first_delete(const struct memtable *m)
{
	uint64_t seq = atomic_load(&m->first_delete);

	return seq ? seq : UINT64_MAX;
}

/* An empty one with one reference. -ERR_batch_too_large if the arena's places
 * would not fit into 32 bits; -ENOMEM. */
int memtable_new(size_t arena_size, struct memtable **out);

/* Has memory, which outlives m, count it as one of MEMORY_MEMTABLES: before
 * others know m, once. */
void memtable_count(struct memtable *m, struct memory *memory);

/* From any thread; m must not be NULL. */
struct memtable *memtable_get(struct memtable *m);

/* From any thread; the last reference frees it. NULL is allowed. */
void memtable_put(struct memtable *m);

/* Makes ready for memtable_apply of batch, which cannot fail then: 1, 0 if
 * there is too little room, -ENOMEM. The writer's, before batch is logged. */
int memtable_reserve(struct memtable *m, const struct batch *batch);

/*
 * Applies all records, which must be sound (batch_parse) and for which the last
 * call of memtable_reserve was: the first has sequence seq, the next seq + 1,
 * ... The writer's. Readers beside it may see some of the records and have to
 * ignore what is newer than their snapshot; no snapshot may lie between two.
 */
void memtable_apply(struct memtable *m, const struct batch *batch,
		    uint64_t seq);

/* How large an arena an empty memtable needs for this batch alone, in bytes; no
 * more than an arena can have. */
size_t memtable_need(const struct batch *batch);

/* Whether a cell's key may start with the row, family or column prefix of this
 * hash64. False is certain for what was visible before the call. */
bool memtable_may_contain(const struct memtable *m, uint64_t prefix_hash);

/* Over the cells, in the caller's memory, which needs no close. Stepping cannot
 * fail. */
struct memtable_iter {
	struct iter iter; /* first, so that it can be cast */
	const struct memtable *m;
	uint32_t place; /* of the node that is shown; 0: the end */
};

/* m must stay referenced as long as the iterator is used. */
void memtable_iter_init(struct memtable_iter *it, const struct memtable *m);

/* As memtable_iter_init, from the heap, to be closed. 0 or -ENOMEM. */
int memtable_iter_new(struct memtable *m, struct iter **out);

/*
 * The largest seq <= visible_seq of a range tombstone covering key, or 0. With
 * span, also tells a range around key for which the answer is the same; its
 * bounds live as long as m, and an empty end means none.
 */
uint64_t memtable_cover(const struct memtable *m, struct bytes key,
			uint64_t visible_seq, struct tombstone *span);

/* All range tombstones of an m that is written no more, fragmented for these
 * snapshots; see tombstone_fragment. out is to be released, also after -ENOMEM.
 */
int memtable_tombstones(const struct memtable *m, const uint64_t *snapshots,
			size_t snapshot_count, struct tombstone_list *out);

/* As memtable_tombstones, a part after the other: from *place on, which is 0 at
 * first, some count or more, up to *end, which lies in no row and lives as long
 * as m. Then *place is where to go on; 0, and *end empty: there are no more. */
int memtable_tombstones_part(const struct memtable *m,
			     const uint64_t *snapshots, size_t snapshot_count,
			     size_t count, uint32_t *place, struct bytes *end,
			     struct tombstone_list *out);

#endif
