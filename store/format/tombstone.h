#ifndef STORE_FORMAT_TOMBSTONE_H
#define STORE_FORMAT_TOMBSTONE_H

#include "store/base/buf.h"

/*
 * Range tombstones: [start, end) @ seq over encoded keys hides every entry in
 * the range whose seq is smaller. Order is by seq, never by timestamp, so a
 * write after a delete is seen whatever its timestamp.
 *
 * A tombstone list is immutable and fragmented: fragments do not overlap
 * unless they have equal bounds, and come by start, then newest seq first.
 * (Fragmenting is RocksDB's and Pebble's way to make lookup a binary search.)
 * Any number of threads may read a list.
 */
struct tombstone {
	struct bytes start; /* an encoded key or prefix; borrowed */
	struct bytes end;   /* greater, and not covered; borrowed */
	uint64_t seq;
};

struct tombstone_list {
	struct tombstone *items; /* owned */
	size_t count;
	struct buf memory; /* the bounds that items point at */
};

#define TOMBSTONE_LIST_INIT       \
	{                         \
		NULL, 0, BUF_INIT \
	}

/* Frees the list, which is then empty. */
void tombstone_list_release(struct tombstone_list *list);

/*
 * Fragments any tombstones, in any order and overlap, into out, which must be
 * empty and copies the bounds. One whose end is not after its start covers
 * nothing. Neighbours that end up alike become one. Of fragments with equal
 * bounds, those are kept that some reader needs: the newest, and for each seq
 * in snapshots (ascending, may be empty) the newest not after it. 0, or
 * -ENOMEM, and out is empty.
 */
int tombstone_fragment(const struct tombstone *items, size_t count,
		       const uint64_t *snapshots, size_t snapshot_count,
		       struct tombstone_list *out);

/*
 * The largest seq <= visible_seq of a tombstone that covers key, or 0. With
 * span, also tells a range around key for which the answer is the same: the
 * fragment or the gap that key is in. Its bounds are borrowed from the list;
 * an empty end means none, and an empty start that the range begins with the
 * first key.
 */
uint64_t tombstone_cover(const struct tombstone_list *list, struct bytes key,
			 uint64_t visible_seq, struct tombstone *span);

/* Appends t to b. The block of an sst that holds a list is the list's items one
 * after another. 0 or -ENOMEM. */
int tombstone_encode(const struct tombstone *t, struct buf *b);

/* Takes one item off the front of such a block: false if it is malformed, which
 * t's fields tell nothing of then. Its bounds point into the block. */
bool tombstone_take(struct bytes *in, struct tombstone *t);

/* Whether t may come after before in a list, which lookups count on. */
bool tombstone_in_order(const struct tombstone *before,
			const struct tombstone *t);

/* Parses the block of an sst that holds a list into one that owns copies.
 * -ERR_block_malformed names the item; -ENOMEM. Then out is empty. */
int tombstone_decode(struct bytes block, struct tombstone_list *out);

/* Tombstones that are collected, with copies of their bounds. A zeroed one is
 * empty. */
struct tombstone_pile {
	struct buf items;  /* struct tombstone; bounds are places until taken */
	struct buf memory; /* the bounds */
};

/* 0 or -ENOMEM. */
int tombstone_pile_add(struct tombstone_pile *p, const struct tombstone *t);

/* All of them, as tombstone_fragment takes them, until the pile is emptied;
 * nothing is added from here on. */
const struct tombstone *tombstone_pile_take(struct tombstone_pile *p,
					    size_t *count);

/* Empties it and keeps the memory. */
void tombstone_pile_reset(struct tombstone_pile *p);

void tombstone_pile_release(struct tombstone_pile *p);

#endif
