#ifndef STORE_BASE_CACHE_H
#define STORE_BASE_CACHE_H

#include "store/base/bytes.h"

/*
 * Block cache: decoded blocks by (file, offset), shared by all threads, bound
 * by bytes. All calls may come from any thread. Filters and indexes live in it
 * like data blocks, so the budget bounds them too. Eviction is S3-FIFO (Yang et
 * al., SOSP 2023): a small queue of newcomers, a main queue of those asked for
 * again, a ghost queue of names lately seen, so that one long scan does not
 * push out what is in use.
 *
 * A block is handed out with a reference that pins its bytes until put. A
 * pinned block outlives its eviction, and then is no longer counted.
 *
 * Limits: a cache of at least 8 MiB is split into up to 16 shards, each with a
 * lock and an equal part of the capacity, so that a block larger than such a
 * part is never kept. Nothing is evicted but by an insertion.
 */
struct cache;

struct cache_block {
	struct bytes bytes; /* valid while referenced; starts on a cache line */
	void *side;         /* from malloc, freed with the block; or NULL */
	size_t side_size;   /* counts as the block's */
};

struct cache_stats {
	uint64_t hit_count; /* of cache_get, since the cache was made */
	uint64_t miss_count;
	uint64_t used_size; /* bytes: blocks, their heads, what is reserved */
	uint64_t reserved_size; /* of these, what is reserved */
	uint64_t held_size;     /* besides these */
};

/* capacity is in bytes; 0 makes a cache that keeps nothing. 0 or -ENOMEM. */
int cache_new(size_t capacity, struct cache **out);

/* In bytes, whatever is reserved of it. */
size_t cache_capacity(const struct cache *c);

/* Every block must have been put. NULL is allowed. */
void cache_free(struct cache *c);

/* A referenced block, or NULL on a miss. Its bytes may be read by all who have
 * it and changed by none. */
struct cache_block *cache_get(struct cache *c, uint64_t file, uint64_t offset);

/*
 * Memory for a block of size bytes, referenced, not yet in the cache; NULL when
 * there is no memory. The caller fills block->bytes.data, may shorten
 * block->bytes, may set the side, and then inserts it or only puts it.
 */
struct cache_block *cache_new_block(struct cache *c, size_t size);

/* Makes it known under its name, once; from now on it may not be changed. If
 * another thread was first, that one's block stays and this one merely is not
 * in the cache; nor is one that is larger than a shard of the cache. The
 * caller's reference stays its own. */
void cache_insert(struct cache *c, uint64_t file, uint64_t offset,
		  struct cache_block *block);

/* Gives a reference back; with the last one the block is freed. */
void cache_put(struct cache *c, struct cache_block *block);

/* Forgets all blocks of a file that was removed: ids are never used again, so
 * this is for the room alone. Looks at every block, a shard at a time. */
void cache_forget(struct cache *c, uint64_t file);

/*
 * Takes size bytes of the capacity for a block that its caller holds on to for
 * long, so that it need not be looked up; false if all that is taken would then
 * be more than so many eighths, 4 at most, of the capacity. What is taken has
 * to be given back by cache_unreserve.
 */
bool cache_reserve(struct cache *c, size_t size, unsigned int eighths);
void cache_unreserve(struct cache *c, size_t size);

/* Takes from the capacity what is held in any case, up to all of it; what is
 * beyond that is counted only. Given back by cache_unhold. */
void cache_hold(struct cache *c, size_t size);
void cache_unhold(struct cache *c, size_t size);

struct cache_stats cache_stats(struct cache *c);

#endif
