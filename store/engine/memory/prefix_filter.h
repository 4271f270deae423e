#ifndef STORE_ENGINE_MEMORY_PREFIX_FILTER_H
#define STORE_ENGINE_MEMORY_PREFIX_FILTER_H

#include <stdatomic.h>

#include "store/base/bytes.h"

/*
 * A Bloom filter of key prefixes that is asked while it grows: of each prefix
 * some bits of one word, so that setting and asking cost one cache miss. One
 * thread adds; any thread asks, without locks. Who has learned of a cell, by
 * acquire, after its prefixes were set sees them.
 */
struct prefix_filter {
	_Atomic uint64_t *words; /* owned */
	size_t count;            /* at most UINT32_MAX */
};

/* Of an empty set. 0 or -ENOMEM. */
int prefix_filter_init(struct prefix_filter *f, size_t word_count);

/* A zeroed one is allowed. */
void prefix_filter_release(struct prefix_filter *f);

/* Whether a prefix with this hash64 may have been added; false is certain. */
bool prefix_filter_may_contain(const struct prefix_filter *f, uint64_t hash);

/* Of a key: row, family and column. */
#define PREFIXES 3

/*
 * Bits that are still to be set in the filter. Its words are seldom in the
 * processor's cache, so they are asked for first, and the bits set when the
 * next cell has been added. Zeroed, it is empty.
 */
struct prefix_pending {
	struct {
		_Atomic uint64_t *word;
		uint64_t bits;
	} add[2 * PREFIXES]; /* of the cell before and of this one */
	unsigned int count;
};

/* Notes a prefix and has its word fetched. There must be room. */
void prefix_pending_add(struct prefix_pending *p, struct prefix_filter *f,
			struct bytes prefix);

/* Sets the bits of the first n, at most count, in the filter. */
void prefix_pending_set(struct prefix_pending *p, unsigned int n);

#endif
